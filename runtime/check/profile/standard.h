/* What the standards' profiles have in common: which levels can stand together, entries of a mask,
 * which questions a case asks. */
#ifndef HEED_CHECK_PROFILE_STANDARD_H
#define HEED_CHECK_PROFILE_STANDARD_H

#include <math.h>

#include "check/profile/profile.h"

#define ONE(level) (1u << (level))
#define UP_TO(level) ((2u << (level)) - 1)

/* What holds in each standard: only a mask has a shape (without one it is `shape`) and contents,
 * only a mask with its own axis hides rows or an item, fp16 has no -3.4e38. */
bool standard_is_possible(const uint8_t *level, uint8_t shape);

/* An entry of the mask, broadcast with its axes aligned at the right; past its last key, `past`. */
double standard_entry(const profile_case *c, size_t b, size_t h, size_t i, size_t j, double past);

/* Calls add with each pair of a query and a key, and sets the matrix to the sum that it returns. */
typedef double (*standard_pair)(const profile_case *c, size_t b, size_t h, size_t i, size_t j);
void standard_fill(const profile_case *c, standard_pair add, double *matrix);

#define HIDES (-HUGE_VAL)

bool standard_asks_boolean(const profile_case *c);
bool standard_asks_several(const profile_case *c);
bool standard_asks_float(const profile_case *c);
bool standard_asks_lowest(const profile_case *c);
bool standard_asks_overflow(const profile_case *c);
bool standard_asks_causal(const profile_case *c);
bool standard_asks_window(const profile_case *c);
bool standard_asks_empty(const profile_case *c);
bool standard_asks_groups(const profile_case *c);
bool standard_asks_softcap(const profile_case *c);
bool standard_asks_scale(const profile_case *c);
bool standard_asks_precision(const profile_case *c);
bool standard_asks_weights(const profile_case *c);
bool standard_asks_depth(const profile_case *c);
bool standard_asks_hidden_nan(const profile_case *c);
bool standard_asks_seen_nan(const profile_case *c);
bool standard_asks_shape(const profile_case *c);
bool standard_asks_cache(const profile_case *c);

#define QUESTION_BOOLEAN "what a true boolean means"
#define QUESTION_SEVERAL "several masks"
#define QUESTION_FLOAT "float mask"
#define QUESTION_LOWEST "float mask of −3.4e38 (`finfo.min`)"
#define QUESTION_OVERFLOW "logit that overflows to −Inf"
#define QUESTION_CAUSAL "causal with Tq ≠ Tk"
#define QUESTION_WINDOW "window"
#define QUESTION_EMPTY "row with nothing allowed"
#define QUESTION_GROUPS "grouped heads"
#define QUESTION_SOFTCAP "softcap"
#define QUESTION_SCALE "scale"
#define QUESTION_PRECISION "softmax precision"
#define QUESTION_WEIGHTS "weights out"
#define QUESTION_DEPTH "value width Dv ≠ D"
#define QUESTION_HIDDEN_NAN "NaN or Inf behind a mask"
#define QUESTION_SEEN_NAN "NaN or Inf in a value with weight 0 that is not masked"
#define QUESTION_SHAPE "mask of fewer axes or keys"
#define QUESTION_CACHE "keys of earlier calls"

#define REASON_HIDDEN_NAN "a NaN or Inf behind a mask never reaches heed's results"
#define REASON_OVERFLOW "heed hides a key whose logit overflows, where keys can be hidden"

#endif
