// What the modules with VK_NV_cooperative_matrix2 (HEED_MATRIX2) ask of GLSL; they are SPIR-V for
// Vulkan 1.3.
#ifndef HEED_MATRIX2_GLSL
#define HEED_MATRIX2_GLSL

#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix2 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#pragma use_vulkan_memory_model

#endif
