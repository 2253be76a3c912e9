/* What a method of heed_explain is, and what it works on.
 *
 * To add one: write runtime/explain/methods/<name>.c, which defines `const heed_explain_method
 * heed_method_<name>`; add HEED_METHOD(<name>) to method_list.h and the file to
 * runtime/CMakeLists.txt. `prepare` refuses models and inputs that the method has no use for, and
 * asks for the values of the graph that it reads (heed_pass_keep). `compute` finds them in the
 * session that has run, and adds its tensors (heed_explain_add). One that needs gradients asks
 * run->backward for them (heed_backward_want of backward.h). A method that compares pictures
 * sets `source`: then run->source is the pass of source.pixel_values, where IN has it. */
#ifndef HEED_EXPLAIN_METHOD_H
#define HEED_EXPLAIN_METHOD_H

#include "explain/reverse_pass.h"
#include "heed/explain.h"

/* The score that is explained: which number of a picture's results it is. */
typedef enum heed_target_kind {
  HEED_TARGET_LARGEST, /* each picture's largest logit */
  HEED_TARGET_LOGIT,   /* first; less that of second where there is one */
  HEED_TARGET_VECTOR,  /* target.vector . pooler_output */
  HEED_TARGET_STATE    /* one number of a state */
} heed_target_kind;

typedef struct heed_target {
  heed_target_kind kind;
  bool difference;
  uint32_t first, second;
  uint32_t level, token, channel; /* of a state: 0 embeddings, l + 1 the output of layer l */
  /* of texts: their embeddings [count, size], and what heed_compare makes logits of */
  float *texts;
  uint32_t count, size;
  uint32_t *largest; /* [B], where that is the target */
  heed_model_info text;
} heed_target;

/* One run of the model on a batch of pictures. */
typedef struct heed_pass {
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session; /* it has run when methods compute */
  uint32_t batch, height, width;
  uint32_t rows, columns, tokens; /* the grid of patches; T */
  heed_value *kept;               /* values that methods asked for */
  size_t kept_count, kept_room;
  struct heed_held *held; /* what is taken out of it while it runs: held.h */
  size_t held_count, held_room;
} heed_pass;

typedef struct heed_explain_run {
  heed_context *context;
  const heed_explain_desc *desc;
  heed_model_info info;
  heed_pass pass;   /* of pixel_values */
  heed_pass source; /* of source.pixel_values where a method takes it; else its graph is NULL */
  heed_target target;
  bool scoreless; /* nothing needs a score, and the model has none */
  /* The derivative: it has run when methods compute, where one of them wants a gradient. */
  heed_backward backward;
  bool wants_texts; /* gradients of the text tower, where there are input_ids */
  heed_backward texts;
  heed_explanation *result;
} heed_explain_run;

typedef struct heed_explain_method {
  const char *name;
  bool source;    /* takes source.pixel_values */
  bool scoreless; /* is no part of a score: without a target any model will do */
  bool reverse;   /* is computed from reverse passes alone: the pass itself may go before */
  /* For the pass, and again for that of source.pixel_values where `source` is set; before either
   * has run. NULL: any model and input will do, and only outputs are read. */
  heed_status (*prepare)(heed_explain_run *run, heed_pass *pass, heed_error *error);
  heed_status (*compute)(heed_explain_run *run, heed_error *error);
} heed_explain_method;

#define HEED_METHOD(name) extern const heed_explain_method heed_method_##name;
#include "explain/method_list.h"
#undef HEED_METHOD

/* The input of this name, or NULL. */
const heed_named_tensor *heed_explain_find(const heed_explain_run *run, const char *name);

/* Whether a list as "ledger,lens" has this name. */
bool heed_explain_listed(const char *list, const char *name);

/* Whether there is source.pixel_values of the same size; any: of any number of pictures. Statuses:
 * INVALID_FILE. */
heed_status heed_explain_check_source(const heed_explain_run *run, const char *what, bool any,
                                      heed_error *error);

/* Keeps a value readable after the pass's run; what: "lens", for the sentence of a value 0, which
 * the model lacks. Statuses: UNSUPPORTED, OUT_OF_MEMORY. */
heed_status heed_pass_keep(const heed_explain_run *run, heed_pass *pass, heed_value value,
                           const char *what, heed_error *error);
/* The states of a level: 0 embeddings, l + 1 the output of layer l. */
heed_value heed_pass_states(const heed_pass *pass, uint32_t level);
/* Keeps those of all levels. */
heed_status heed_pass_keep_states(const heed_explain_run *run, heed_pass *pass, const char *what,
                                  heed_error *error);
/* The part of picture b of a value [B, ...] that was kept: all its elements. */
heed_status heed_pass_read(const heed_pass *pass, heed_value value, uint32_t b, float *to,
                           heed_error *error);

/* Runs a session beside the pass's: the caller can cancel it between stages, and no progress of it
 * is told. Statuses: CANCELLED, those of a session. */
heed_status heed_explain_session(const heed_explain_run *run, heed_session *session,
                                 heed_error *error);
/* Ends the session of a pass that nothing reads any more. */
void heed_pass_end(heed_pass *pass);
/* Whether this is the last method of the list that computes, and its pass is not kept. */
bool heed_explain_is_last(const heed_explain_run *run, const heed_explain_method *method);

/* A result, zeroed, to be filled; NULL when out of memory. The name is copied. */
void *heed_explain_add(heed_explain_run *run, const char *name, heed_dtype dtype,
                       const heed_shape *shape, heed_error *error);

/* The target: target.c. */

/* Reads desc->target and runs the text tower where there are input_ids. Statuses: INVALID_ARGUMENT,
 * UNSUPPORTED, INVALID_FILE, those of a session. */
heed_status heed_target_open(heed_explain_run *run, heed_error *error);
/* Checks the target by the graph and keeps what the score needs. */
heed_status heed_target_prepare(heed_explain_run *run, heed_error *error);
/* Chooses each picture's largest logit, where that is the target, once the pictures have run. */
heed_status heed_target_settle(heed_explain_run *run, heed_error *error);
void heed_target_close(heed_explain_run *run);

/* The value that the score is made of: logits, pooler_output, image_embeds or states. */
heed_value heed_target_value(const heed_explain_run *run, const heed_pass *pass);
/* The score of picture b of a pass that has run. */
heed_status heed_target_score(const heed_explain_run *run, const heed_pass *pass, uint32_t b,
                              double *score, heed_error *error);
/* The score of a picture by its numbers `row` of the target value, which is no state. */
heed_status heed_target_row(const heed_explain_run *run, uint32_t b, const float *row,
                            uint32_t width, double *score, heed_error *error);
/* The same as a linear map, the length of an embedding held: score = seed . row + constant. */
void heed_target_seed(const heed_explain_run *run, uint32_t b, const float *row, uint32_t width,
                      double *seed, double *constant);

#endif
