/* What calls leave for JavaScript: a record of record_list.h, as a struct. */
#ifndef HEED_WEB_WASM_RECORDS_H
#define HEED_WEB_WASM_RECORDS_H

#include <stddef.h>

#include "heed/heed.h"

/* Fields that are those of a struct of heed.h: heed_map_statistics, heed_memory, heed_model_info,
 * heed_layer_info. */
#define HEED_WEB_STATISTICS(FIELD) \
  FIELD(entropy_cls)               \
  FIELD(entropy_patches)           \
  FIELD(distance)                  \
  FIELD(distance_renormalised)     \
  FIELD(prefix_mass)               \
  FIELD(self_mass)                 \
  FIELD(top5_mass)
#define HEED_WEB_MEMORY(FIELD) FIELD(weights) FIELD(arena) FIELD(taps) FIELD(workspace)
#define HEED_WEB_MODEL(FIELD) \
  FIELD(image_size)           \
  FIELD(channels)             \
  FIELD(patch)                \
  FIELD(width)                \
  FIELD(layers)               \
  FIELD(heads)                \
  FIELD(heads_guessed)        \
  FIELD(mlp_width)            \
  FIELD(prefix_tokens)        \
  FIELD(classes)              \
  FIELD(parameters)           \
  FIELD(weight_bytes)         \
  FIELD(frames)               \
  FIELD(tubelet)              \
  FIELD(stages)
#define HEED_WEB_TEXT(FIELD) \
  FIELD(source_vocabulary)   \
  FIELD(max_length)          \
  FIELD(end)                 \
  FIELD(projection)          \
  FIELD(text_padded)         \
  FIELD(biased)              \
  FIELD(logit_scale)         \
  FIELD(logit_bias)
/* Too many for a line of the list. */
#define HEED_WEB_SESSION(FIELD) \
  FIELD(batch)                  \
  FIELD(height)                 \
  FIELD(width)                  \
  FIELD(layers)                 \
  FIELD(heads)                  \
  FIELD(tokens)                 \
  FIELD(prefix_tokens)          \
  FIELD(frames)                 \
  FIELD(rows)                   \
  FIELD(columns)
#define HEED_WEB_LAYER(FIELD) \
  FIELD(width)                \
  FIELD(heads)                \
  FIELD(prefix_tokens)        \
  FIELD(frames)               \
  FIELD(rows)                 \
  FIELD(columns)              \
  FIELD(patch)                \
  FIELD(tubelet)              \
  FIELD(window)               \
  FIELD(shift)                \
  FIELD(down)                 \
  FIELD(across)
#define HEED_WEB_GPU_LIMITS(FIELD) \
  FIELD(software)                  \
  FIELD(subgroups)                 \
  FIELD(vendor)                    \
  FIELD(lanes)                     \
  FIELD(invocations)               \
  FIELD(shared)                    \
  FIELD(groups)                    \
  FIELD(fill)                      \
  FIELD(bindings)                  \
  FIELD(range)                     \
  FIELD(buffer)                    \
  FIELD(half)                      \
  FIELD(dot)
#define HEED_WEB_EXPLAINING(FIELD) \
  FIELD(layer)                     \
  FIELD(square)                    \
  FIELD(source_mean)               \
  FIELD(ig_steps)                  \
  FIELD(steps)                     \
  FIELD(curves)                    \
  FIELD(flip_pixels)               \
  FIELD(keep)                      \
  FIELD(pictures)                  \
  FIELD(rows)                      \
  FIELD(columns)
#define HEED_WEB_TWINS(FIELD) FIELD(has_twins) FIELD(first) FIELD(second)

#define FIELD(name) double name;
#define SHAPE  \
  double rank; \
  double shape[HEED_MAX_RANK];
#define RECORD(name, fields)   \
  struct heed_web_out_##name { \
    fields                     \
  } name;
/* The result of a call: one of the records. */
typedef union heed_web_out {
#include "record_list.h"
} heed_web_out;
#undef RECORD
#undef SHAPE
#undef FIELD

/* The number by which JavaScript passes a choice. */
#define HEED_WEB_CODE(record, field) \
  ((int)(offsetof(struct heed_web_out_##record, field) / sizeof(double)))
#define HEED_WEB_ADDRESS(pointer) ((double)(uintptr_t)(pointer))

#endif
