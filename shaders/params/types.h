/* The words in which C and GLSL write push constants alike. A params header is included by both:
 * between HEED_PARAMS_BEGIN and HEED_PARAMS_END stand u32, i32 and f32 members and arrays of them,
 * at most 128 bytes, laid out the same by std430 and by C. */
#ifndef HEED_SHADERS_PARAMS_TYPES_H
#define HEED_SHADERS_PARAMS_TYPES_H

#ifdef VULKAN
#define u32 uint
#define i32 int
#define f32 float
#define HEED_PARAMS_BEGIN(name) layout(push_constant) uniform name {
#define HEED_PARAMS_END(name) \
  }                           \
  params;
#else
#include <stdint.h>
typedef uint32_t u32;
typedef int32_t i32;
typedef float f32;
#define HEED_PARAMS_BEGIN(name) typedef struct name {
#define HEED_PARAMS_END(name) \
  }                           \
  name;
#endif

#endif
