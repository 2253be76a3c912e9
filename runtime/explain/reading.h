/* How the score reads the tokens of the last layer. */
#ifndef HEED_EXPLAIN_READING_H
#define HEED_EXPLAIN_READING_H

#include "explain/method.h"

/* Asks for what a pooling attention needs, where there is one. */
heed_status heed_reading_prepare(heed_explain_run *run, const char *what, heed_error *error);
/* weights [T] of picture b: 1 for a token that is read as it is, 1/N of a mean, what a pooling
 * attention gives times its gradient where that is positive, and half of each where two are read;
 * of a state its token. Statuses: UNSUPPORTED (another read-out), those of a session. */
heed_status heed_reading_weights(heed_explain_run *run, uint32_t b, double *weights,
                                 heed_error *error);

#endif
