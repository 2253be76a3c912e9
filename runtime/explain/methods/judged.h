/* What the methods that judge a map share: the map, from judge.map or judge.pixels of IN, and the
 * pictures without some of their pixels. */
#ifndef HEED_EXPLAIN_METHODS_JUDGED_H
#define HEED_EXPLAIN_METHODS_JUDGED_H

#include "explain/variant.h"

/* Checks that IN has this tensor with a picture for each of the pass: [B, patches], or [B, height,
 * width] with `pixels`. what: the method. Statuses: INVALID_FILE. */
heed_status heed_judged_check(const heed_explain_run *run, const heed_pass *pass, const char *name,
                              bool pixels, const char *what, heed_error *error);
/* Checks that IN has judge.pixels, or judge.map. Statuses: INVALID_FILE. */
heed_status heed_judged_check_pixels(const heed_explain_run *run, const heed_pass *pass,
                                     const char *what, heed_error *error);
/* The map of pixels of every picture, [B, height, width], to be freed: judge.pixels, else judge.map
 * with each patch's number in all of its pixels, and NaN outside of the patches. NULL when out of
 * memory. */
float *heed_judged_pixels(const heed_explain_run *run, heed_error *error);
/* A number of float32 or NULL, with the sentence. */
void *heed_judged_room(const heed_explain_run *run, size_t count, size_t size, heed_error *error);
/* A result of F32 [B, columns], or [B] where columns is 0; NULL when out of memory. */
float *heed_judged_add(heed_explain_run *run, const char *name, uint32_t columns,
                       heed_error *error);

#endif
