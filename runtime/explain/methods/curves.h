/* The curves of deletion and insertion: the score as the patches leave, or come, in the order of a
 * map. */
#ifndef HEED_EXPLAIN_METHODS_CURVES_H
#define HEED_EXPLAIN_METHODS_CURVES_H

#include "explain/method.h"

/* The same as of a method; name: "deletion" or "insertion". */
heed_status heed_curves_prepare(heed_explain_run *run, heed_pass *pass, const char *name,
                                heed_error *error);
heed_status heed_curves_compute(heed_explain_run *run, const char *name, bool deletion,
                                heed_error *error);

#endif
