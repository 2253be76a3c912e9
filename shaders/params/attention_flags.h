/* What an attention kernel has to do: bits of its specialisation constant FLAGS. */
#ifndef HEED_SHADERS_PARAMS_ATTENTION_FLAGS_H
#define HEED_SHADERS_PARAMS_ATTENTION_FLAGS_H

#define HEED_ATTENTION_MASK 1u
#define HEED_ATTENTION_KEY_PADDING 2u
#define HEED_ATTENTION_QUERY_PADDING 4u
#define HEED_ATTENTION_BIAS 8u
#define HEED_ATTENTION_CAUSAL 16u
#define HEED_ATTENTION_LEFT 32u
#define HEED_ATTENTION_RIGHT 64u
#define HEED_ATTENTION_SOFTCAP 128u
#define HEED_ATTENTION_WEIGHTS 256u
#define HEED_ATTENTION_LOGITS 512u
#define HEED_ATTENTION_ROWS 1024u      /* only the rows of a list */
#define HEED_ATTENTION_NO_OUTPUT 2048u /* only weights and logits */
#define HEED_ATTENTION_MERGE 4096u     /* output [B, Tq, H Dv] */
#define HEED_ATTENTION_VECTOR 8192u    /* key and value can be read as vec4 */
#define HEED_ATTENTION_GUARD 16384u    /* some keys inside the range may be hidden */
#define HEED_ATTENTION_ONE_PASS \
  32768u /* running maximum; for softmax without weights and without the mean for empty rows */
#define HEED_ATTENTION_VECTOR_OUT 65536u /* output can be written as vec4 */
#define HEED_ATTENTION_FILLS \
  131072u /* a row of hidden keys has weights all the same: NaN or the mean */
#define HEED_ATTENTION_QUERY_HALF 262144u /* query is fp16, its depth in fours */
#define HEED_ATTENTION_KEY_HALF 524288u
#define HEED_ATTENTION_VALUE_HALF 1048576u
#define HEED_ATTENTION_OUTPUT_HALF 2097152u

/* In the place of a weight, which is hardly over 1: the key is hidden, so that its value must not
 * be multiplied, by 0 either. */
#define HEED_ATTENTION_HIDDEN 2.0f

#endif
