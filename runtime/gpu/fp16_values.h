/* Which values lie in the arena as fp16. */
#ifndef HEED_GPU_FP16_VALUES_H
#define HEED_GPU_FP16_VALUES_H

#include "gpu/limits.h"
#include "heed/session.h"
#include "plan/plan.h"

/* With weights in fp16, what passes between products and attention is fp16 too: the result of a
 * linear without residual, of a rotary or of an attention that nothing but linear's and rotary's x
 * and attention's query, key and value reads. The residual stream, norms, softmax, logits, outputs
 * and taps are F32. Elements lie as they would, each half as long; their number in a row is a
 * multiple of 4. */
bool heed_gpu_is_fp16(const heed_plan *plan, const heed_gpu_limits *limits, uint32_t value);

#endif
