/* Gradients of pixels at several changed pictures, summed. */
#ifndef HEED_EXPLAIN_METHODS_CHANGED_PIXELS_H
#define HEED_EXPLAIN_METHODS_CHANGED_PIXELS_H

#include "explain/backward.h"

/* Picture number `step` in place of x [B, channels, height, width], into `to`. */
typedef void heed_pixel_change(void *user, uint32_t step, const float *x, float *to);

/* One reverse pass for all pictures, of pixels alone. */
heed_status heed_pixels_open(heed_explain_run *run, heed_backward *backward, const char *what,
                             heed_error *error);
/* to [as x] += weights[step] times the gradient at picture `step`, of all steps. */
heed_status heed_pixels_sum(heed_explain_run *run, heed_backward *backward, uint32_t steps,
                            heed_pixel_change *change, void *user, const double *weights,
                            double *to, heed_error *error);

#endif
