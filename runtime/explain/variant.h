/* The model again on pictures that were changed: what it answers then. */
#ifndef HEED_EXPLAIN_VARIANT_H
#define HEED_EXPLAIN_VARIANT_H

#include "explain/method.h"

/* What a model says of a picture. */
typedef struct heed_answer {
  double score;
  double probability; /* of the target among all logits, for a target of one logit; else NaN */
  bool kept;          /* the target is the largest logit; false for another target */
} heed_answer;

/* Whether the target is one logit, which has a probability. */
bool heed_answer_is_logit(const heed_explain_run *run);
/* Its probability, or the score of a target that has none. */
double heed_answer_number(const heed_explain_run *run, const heed_answer *answer);
/* The answer for picture b of a pass that has run. Statuses: OUT_OF_MEMORY, those of a session. */
heed_status heed_answer_read(const heed_explain_run *run, const heed_pass *pass, uint32_t b,
                             heed_answer *answer, heed_error *error);

/* Opens a pass for as many pictures as run->pass has, of the same size, to be written and run again
 * and again; with `shortened` the sequence of `patches` patches (heed_build_desc). Only what the
 * target needs is computed. To be closed in any case. Statuses: those of a build, a plan and a
 * session. */
heed_status heed_variant_open(const heed_explain_run *run, bool shortened, uint32_t patches,
                              heed_pass *variant, heed_error *error);
/* The same of all patches, for heed_changes; offset_rows: those of heed_changes_resample. */
heed_status heed_variant_open_changed(const heed_explain_run *run, bool offset_rows,
                                      heed_pass *variant, heed_error *error);
/* Writes an input of the variant, where its graph has it. */
heed_status heed_variant_write(const heed_pass *variant, const char *name, const void *data,
                               heed_error *error);
void heed_variant_close(heed_pass *variant);

#endif
