/* What crosses to JavaScript as numbers, by name. This list is the only one: C makes structs of it,
 * and the module hands it to JavaScript as text (heed_web_records), which names what it reads by
 * it.
 *
 * A record is a name and its fields; every field is a double. HEED_WEB_SHAPE is a rank and as many
 * dimensions. Records whose fields are choices stand for numbers that JavaScript passes in: the
 * number is the field's place (HEED_WEB_CODE). */
#ifndef HEED_WEB_RECORDS_H
#define HEED_WEB_RECORDS_H

#include <stddef.h>

#include "heed/heed.h"

/* heed_map_statistics, field by field. */
#define HEED_WEB_STATISTICS(FIELD) \
  FIELD(entropy_cls)               \
  FIELD(entropy_patches)           \
  FIELD(distance)                  \
  FIELD(distance_renormalised) FIELD(prefix_mass) FIELD(self_mass) FIELD(top5_mass)

/* The same of heed_memory and heed_model_info. */
#define HEED_WEB_MEMORY(FIELD) FIELD(weights) FIELD(arena) FIELD(taps) FIELD(workspace)
#define HEED_WEB_MODEL(FIELD) \
  FIELD(image_size)           \
  FIELD(channels)             \
  FIELD(patch)                \
  FIELD(width)                \
  FIELD(layers)               \
  FIELD(heads)                \
  FIELD(mlp_width) FIELD(prefix_tokens) FIELD(classes) FIELD(parameters) FIELD(weight_bytes)

#define HEED_WEB_RECORDS(RECORD, FIELD, SHAPE)                                                     \
  /* a block that the caller frees, its elements */                                                \
  RECORD(block, FIELD(address) FIELD(count))                                                       \
  /* what was made */ RECORD(opened, FIELD(address)) /* name: its address */ RECORD(               \
      input, FIELD(name) FIELD(address) FIELD(bytes))                                              \
      RECORD(model, HEED_WEB_MODEL(FIELD)) /* addresses of name, dtype and role (0 = none); layer  \
                                              of the role; used: 1 or 0 */                         \
      RECORD(tensor, FIELD(name) FIELD(dtype) FIELD(role) FIELD(layer) FIELD(bytes) FIELD(used)    \
                         SHAPE) /* pixels: address of pixel_values */                              \
      RECORD(session,                                                                              \
             FIELD(session) FIELD(batch) FIELD(height) FIELD(width) FIELD(tokens) FIELD(steps)     \
                 FIELD(pixels)                                                                     \
                     HEED_WEB_MEMORY(FIELD)) /* of a picture: what the model sees of it */         \
      RECORD(region, FIELD(x) FIELD(y) FIELD(width) FIELD(height)) RECORD(step, FIELD(next))       \
          RECORD(value, FIELD(address) FIELD(dtype) SHAPE) RECORD(                                 \
              statistics, HEED_WEB_STATISTICS(                                                     \
                              FIELD)) /* addresses of op and worst; valid until the next check */  \
      RECORD(check,                                                                                \
             FIELD(passed) FIELD(max_abs) FIELD(max_rel) FIELD(op) FIELD(worst)                    \
                 SHAPE) /* addresses of text, owner and RGB; side in pixels, grid in patches */    \
      RECORD(scene,                                                                                \
             FIELD(text) FIELD(owner) FIELD(rgb) FIELD(side) FIELD(grid) FIELD(has_twins)          \
                 FIELD(first)                                                                      \
                     FIELD(second)) /* choices: what a session keeps; heed_build_desc's intervene  \
                                     * and empty_row; heed_fusion; heed_colormap; heed_dtype */                                                                      \
      RECORD(keep, FIELD(none) FIELD(rows) FIELD(all) FIELD(named))                                \
          RECORD(intervene, FIELD(never) FIELD(zero) FIELD(nan) FIELD(mean))                       \
              RECORD(fusion, FIELD(mean) FIELD(min) FIELD(max)) RECORD(                            \
                  colormap, FIELD(cividis) FIELD(viridis) FIELD(magma) FIELD(inferno) FIELD(grey)) \
                  RECORD(dtype, FIELD(f32) FIELD(f16) FIELD(bf16) FIELD(u8) FIELD(i32))

#define HEED_WEB_DOUBLE(name) double name;
#define HEED_WEB_DIMENSIONS \
  double rank;              \
  double shape[HEED_MAX_RANK];
#define HEED_WEB_STRUCT(name, fields) \
  struct heed_web_out_##name {        \
    fields                            \
  } name;
/* The result of a call: one of the records. */
typedef union heed_web_out {
  HEED_WEB_RECORDS(HEED_WEB_STRUCT, HEED_WEB_DOUBLE, HEED_WEB_DIMENSIONS)
} heed_web_out;

/* The list as text: "block address count;model image_size ...;". After "rank" come its
 * dimensions. */
#define HEED_WEB_NAME(name) " " #name
#define HEED_WEB_LINE(name, fields) #name fields ";"
#define HEED_WEB_RECORDS_TEXT HEED_WEB_RECORDS(HEED_WEB_LINE, HEED_WEB_NAME, " rank")

#define HEED_WEB_CODE(record, field) \
  ((int)(offsetof(struct heed_web_out_##record, field) / sizeof(double)))
#define HEED_WEB_ADDRESS(pointer) ((double)(uintptr_t)(pointer))

#endif
