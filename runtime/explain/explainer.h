/* What explanations of one model, size and list of methods share: heed_explainer of heed.h. */
#ifndef HEED_EXPLAIN_EXPLAINER_H
#define HEED_EXPLAIN_EXPLAINER_H

#include "explain/method.h"

/* Moves a kept pass that fits this explanation into run->pass, and says whether there was one: then
 * its methods are prepared, and its session only needs pixels. source: a second pass is wanted. */
bool heed_explainer_take(heed_explain_run *run, bool source);
/* Keeps run->pass, where the next explanation can use it; else it stays. */
void heed_explainer_give(heed_explain_run *run);
/* Of a pass; explanation.c. */
void heed_pass_close(const heed_explain_run *run, heed_pass *pass);

#endif
