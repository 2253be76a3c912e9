/* EXPERIMENTAL: all of this header may change. Encoder-decoders and their decoding: a library of
 * its own beside the core (CMake heed::sequences). docs/sequences.md lists the keys and tensor
 * names. */
#ifndef HEED_SEQUENCES_H
#define HEED_SEQUENCES_H

#include "heed/model.h"
#include "heed/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether config.json among the files names an encoder-decoder: "architectures" begin with
 * HeedTransformer or HeedSeq2Seq. Statuses: INVALID_ARGUMENT, INVALID_FILE, IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_sequence_named(heed_context *context,
                                                        const heed_model_desc *desc, bool *named,
                                                        heed_error *error);

/* Opens an encoder-decoder, as heed_model_open opens a vision transformer: heed_model_build makes
 * its graphs, and heed_model_destroy closes it. Statuses: INVALID_ARGUMENT, INVALID_FILE,
 * UNSUPPORTED, IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_sequence_open(heed_context *context,
                                                       const heed_model_desc *desc,
                                                       heed_model **model, heed_error *error);

/* Greedy decoding of an encoder-decoder. The encoder runs once, then a step per token, fed with the
 * most probable token before it (the first of equals). Keys and values of earlier tokens, or the
 * states of a recurrent decoder, are retained, so every step costs the same. */
typedef struct heed_decoder heed_decoder;

typedef struct heed_decoder_desc {
  size_t struct_size;
  uint32_t batch;         /* 0 = 1 */
  uint32_t source_length; /* S; 0 = the model's max_length */
  uint32_t max_length;    /* most tokens to decode; 0 = the model's max_length */
  bool logits, attention; /* what to retain of every step */
} heed_decoder_desc;

/* Borrows model, which must be an encoder-decoder, and backend. Copies desc. hooks may be NULL.
 * Statuses: as heed_model_build, heed_plan_create and heed_session_create. */
HEED_NODISCARD HEED_API heed_status heed_decoder_create(const heed_model *model,
                                                        heed_backend *backend,
                                                        const heed_decoder_desc *desc,
                                                        const heed_hooks *hooks,
                                                        heed_decoder **decoder, heed_error *error);
HEED_API void heed_decoder_destroy(heed_decoder *decoder);
/* Decodes. source is source_tokens I32 [B, S] or source_features F32 [B, S, F], of `bytes` bytes.
 * Ends when every row of the batch has the end token, or at max_length. hooks may be NULL.
 * Statuses: INVALID_ARGUMENT, INVALID_FILE (a logit that is not a number), CANCELLED, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_decoder_run(heed_decoder *decoder, const void *source,
                                                     size_t bytes, const heed_hooks *hooks,
                                                     heed_error *error);
/* The tokens of the last run, [B, length], without the begin token and with the end token. Rows
 * that ended earlier continue with padding, or with the end token where the model names no padding.
 * Valid until the next run. */
HEED_API const int32_t *heed_decoder_tokens(const heed_decoder *decoder, uint32_t *length);
/* The logits of these tokens, [B, length, target vocabulary], or NULL when they were not retained.
 * Valid until the next run. */
HEED_API const float *heed_decoder_logits(const heed_decoder *decoder);

typedef enum heed_decoder_attention {
  HEED_ATTENTION_ENCODER = 0,
  HEED_ATTENTION_DECODER = 1,
  HEED_ATTENTION_CROSS = 2
} heed_decoder_attention;
/* The shape of one layer's attention weights in the last run: [B, H, S, S], [B, H, length, length]
 * or [B, H, length, S]. Rank 0 when the model has no such attention, or it was not retained. */
HEED_API heed_shape heed_decoder_attention_shape(const heed_decoder *decoder,
                                                 heed_decoder_attention which, uint32_t layer);
/* Copies them, `count` floats. Statuses: INVALID_ARGUMENT. */
HEED_NODISCARD HEED_API heed_status heed_decoder_read_attention(heed_decoder *decoder,
                                                                heed_decoder_attention which,
                                                                uint32_t layer, float *to,
                                                                uint64_t count, heed_error *error);

#ifdef __cplusplus
}
#endif

#endif
