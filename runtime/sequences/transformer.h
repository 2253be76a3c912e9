/* What the graphs of a transformer share, the whole (transformer.c) and the step
 * (transformer_step.c). */
#ifndef HEED_SEQUENCES_TRANSFORMER_H
#define HEED_SEQUENCES_TRANSFORMER_H

#include "sequences/sequence.h"

/* Constant [rows, width] of side "source" or "target". */
heed_value heed_transformer_positions(heed_sequence_builder *b, const char *side, uint32_t rows);
/* Everything of a block of side "encoder" or "decoder" but its inputs. */
heed_transformer_block_desc heed_transformer_layer(heed_sequence_builder *b, const char *side,
                                                   uint32_t i, bool decoder);
/* The norm after the last layer, where the file has one. */
heed_value heed_transformer_final_norm(heed_sequence_builder *b, heed_value x, const char *side);
/* side.i.which.weights and .logits */
void heed_transformer_name_attention(heed_sequence_builder *b, const heed_attention_values *values,
                                     const char *side, uint32_t i, const char *which);

#endif
