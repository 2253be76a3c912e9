/* A run of a model with a reverse pass behind it (graph/gradient): the gradient of each picture's
 * score. Values have the ids of the pass's graph, which the graph here is built like. */
#ifndef HEED_EXPLAIN_BACKWARD_H
#define HEED_EXPLAIN_BACKWARD_H

#include "explain/method.h"
#include "graph/gradient/rules.h"

/* Asks for the gradient of a value, before it is opened; a value 0 is one that the model lacks.
 * what: "grad", for the sentence. Statuses: UNSUPPORTED, OUT_OF_MEMORY. */
heed_status heed_backward_want(const heed_explain_run *run, heed_backward *backward,
                               heed_value value, const char *what, heed_error *error);
/* Asks for the value itself. */
heed_status heed_backward_keep(const heed_explain_run *run, heed_backward *backward,
                               heed_value value, const char *what, heed_error *error);
/* Both of the attention weights of all layers. */
heed_status heed_backward_want_weights(const heed_explain_run *run, heed_backward *backward,
                                       const char *what, heed_error *error);

/* The model of the pictures, from run's target. A text's length is held where the rules hold
 * norms. Once the pass has run and the target is settled. rules NULL: the derivative. Statuses:
 * UNSUPPORTED, OUT_OF_MEMORY, those of a session. */
heed_status heed_backward_open(const heed_explain_run *run, heed_backward *backward,
                               const heed_gradient_rules *rules, heed_error *error);
/* Writes the weights of the score of a pass that is open, as opening it does: those of another
 * class, too. */
heed_status heed_backward_seed(const heed_explain_run *run, const heed_backward *backward,
                               heed_error *error);
/* The text tower, whose scores are the sums over all pictures. */
heed_status heed_backward_open_texts(const heed_explain_run *run, heed_backward *backward,
                                     heed_error *error);
/* pixels [B, channels, height, width] */
heed_status heed_backward_run(const heed_explain_run *run, heed_backward *backward,
                              const float *pixels, heed_error *error);
void heed_backward_close(const heed_explain_run *run, heed_backward *backward);

/* Elements of a value [B, ...] for one picture. */
size_t heed_backward_size(const heed_backward *backward, heed_value value);
/* The part of picture b: of the gradient of a value that was wanted, of one that was kept. */
heed_status heed_backward_gradient(const heed_backward *backward, heed_value value, uint32_t b,
                                   float *to, heed_error *error);
heed_status heed_backward_value(const heed_backward *backward, heed_value value, uint32_t b,
                                float *to, heed_error *error);
/* The score of picture b of the last run. */
heed_status heed_backward_score(const heed_explain_run *run, const heed_backward *backward,
                                uint32_t b, double *score, heed_error *error);

#endif
