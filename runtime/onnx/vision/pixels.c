/* The preprocessing inside a graph. See pixels.h. From the image on, each value that is a scale and
 * shift of its pixels, channel by channel, is followed; what reads such a value for something else
 * says what the model itself sees. */
#include "onnx/vision/pixels.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

typedef heed_lower_value value;

#define MOST_FOLLOWED 16    /* channels; of more nothing is known, which no graph normalises */
#define ANY_AXIS UINT32_MAX /* that of the only channel: one of those of size 1 */

/* Channel c of a value is factor[c] times channel from[c] of the image plus shift[c]. */
typedef struct scaled {
  bool is;
  uint32_t axis, count, from[MOST_FOLLOWED];
  double factor[MOST_FOLLOWED], shift[MOST_FOLLOWED];
} scaled;

typedef struct search {
  heed_lower *l;
  scaled *values; /* by place in the order */
  scaled seen;    /* by the model */
  uint32_t channels;
  const char *why;
} search;

static scaled *of(const search *s, const value *v) { return &s->values[v->at]; }

/* The constant's number for each channel of a value of so many axes; false: it varies elsewhere. */
static bool by_channel(search *s, value *constant, const value *whole, const scaled *x,
                       double number[MOST_FOLLOWED]) {
  const heed_onnx_array *array = heed_lower_elements(s->l, constant);
  const uint32_t missing = whole->rank - constant->rank;
  uint64_t step = 1;
  if (!array || constant->rank > whole->rank) return false;
  for (uint32_t i = 0; i < constant->rank; i++)
    if (constant->dims[i] != 1 && i + missing != x->axis) return false;
  if (x->axis < missing || constant->dims[x->axis - missing] == 1) step = 0;
  for (uint32_t c = 0; c < x->count; c++) number[c] = heed_onnx_number(array, c * step);
  return true;
}

/* A sum, product, quotient or bound by a constant; false: something else. */
static bool take_constant(search *s, const value *v, const scaled *x, bool second, scaled *y) {
  double number[MOST_FOLLOWED] = {0};
  value *constant = v->x[!second];
  if (v->function == HEED_LOWER_MINIMUM || v->function == HEED_LOWER_MAXIMUM) return true;
  if (!heed_lower_is(constant, HEED_LOWER_CONSTANT) || v->rank != v->x[second]->rank ||
      !by_channel(s, constant, v, x, number))
    return false;
  for (uint32_t c = 0; c < x->count; c++) {
    switch (v->function) {
      case HEED_LOWER_ADD: y->shift[c] += number[c]; break;
      case HEED_LOWER_MULTIPLY:
        y->factor[c] *= number[c];
        y->shift[c] *= number[c];
        break;
      case HEED_LOWER_DIVIDE:
        if (second) return false;
        y->factor[c] /= number[c];
        y->shift[c] /= number[c];
        break;
      default: return false;
    }
  }
  return true;
}

/* A reshape that only puts in axes of 1, or takes them away. */
static bool take_reshape(const value *v, const scaled *x, scaled *y) {
  const value *from = v->x[0];
  uint32_t to = 0;
  for (uint32_t i = 0; i < from->rank; i++) {
    if (from->dims[i] == 1) continue;
    while (to < v->rank && v->dims[to] == 1) to++;
    if (to == v->rank || v->dims[to] != from->dims[i]) return false;
    if (i == x->axis) y->axis = to;
    to++;
  }
  while (to < v->rank && v->dims[to] == 1) to++;
  if (x->count == 1) y->axis = ANY_AXIS;
  return to == v->rank;
}

static void take_channel(const scaled *x, uint32_t from, scaled *y, uint32_t to) {
  y->from[to] = x->from[from];
  y->factor[to] = x->factor[from];
  y->shift[to] = x->shift[from];
}

static bool take_gather(const value *v, const scaled *x, scaled *y) {
  const heed_onnx_array *indices = v->indices;
  if (v->axis != x->axis || v->function) return v->axis != x->axis && !v->function;
  if (!indices || indices->rank != 1 || indices->count > MOST_FOLLOWED) return false;
  y->count = (uint32_t)indices->count;
  for (uint32_t c = 0; c < y->count; c++) {
    const int64_t index = indices->data[c].i, at = index < 0 ? index + x->count : index;
    if (at < 0 || at >= (int64_t)x->count) return false;
    take_channel(x, (uint32_t)at, y, c);
  }
  return true;
}

/* Channels that are put together again. */
static bool take_concat(const search *s, const value *v, scaled *y) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < v->count; i++) {
    const scaled *part = of(s, v->x[i]);
    if (!part->is || (part->axis != v->axis && part->axis != ANY_AXIS) ||
        count + part->count > MOST_FOLLOWED)
      return false;
    for (uint32_t c = 0; c < part->count; c++) take_channel(part, c, y, count++);
  }
  y->count = count;
  y->axis = v->axis;
  return true;
}

static bool take(search *s, const value *v, uint32_t which, scaled *y) {
  const scaled *x = of(s, v->x[which]);
  *y = *x;
  switch (v->kind) {
    case HEED_LOWER_SCALE:
      for (uint32_t c = 0; c < y->count; c++) {
        y->factor[c] *= v->factor;
        y->shift[c] *= v->factor;
      }
      return true;
    case HEED_LOWER_QUANTISED:
    case HEED_LOWER_NAN_TO_ZERO: return true;
    case HEED_LOWER_UNARY:
      return v->function == HEED_LOWER_ROUND || v->function == HEED_LOWER_TRUNCATE ||
             v->function == HEED_LOWER_FLOOR;
    case HEED_LOWER_BINARY: return take_constant(s, v, x, which != 0, y);
    case HEED_LOWER_PERMUTE:
      for (uint32_t i = 0; i < v->rank; i++)
        if (v->order[i] == x->axis) y->axis = i;
      return true;
    case HEED_LOWER_RESHAPE: return take_reshape(v, x, y);
    case HEED_LOWER_SLICE:
      if (v->axis != x->axis) return true;
      y->count = (uint32_t)v->dims[v->axis];
      for (uint32_t c = 0; c < y->count; c++) take_channel(x, (uint32_t)v->first + c, y, c);
      return true;
    case HEED_LOWER_GATHER: return which == 0 && take_gather(v, x, y);
    case HEED_LOWER_CONCAT: return take_concat(s, v, y);
    default: return false;
  }
}

/* Whether a value that reads pixels changes them in a way that is no scale and shift: arithmetic,
 * where a model's first layer would be a product. */
static bool is_arithmetic(const value *v) {
  return v->kind == HEED_LOWER_BINARY || v->kind == HEED_LOWER_UNARY ||
         v->kind == HEED_LOWER_ACTIVATION;
}

static bool is_same(const scaled *a, const scaled *b) {
  bool same = a->count == b->count;
  for (uint32_t c = 0; same && c < a->count; c++)
    same = a->from[c] == b->from[c] && fabs(a->factor[c] - b->factor[c]) <= 1e-6 * a->factor[c] &&
           fabs(a->shift[c] - b->shift[c]) <= 1e-6 * (1 + fabs(a->shift[c]));
  return same;
}

static void look(search *s, const value *v, const value *image) {
  scaled *y = of(s, v);
  if (v == image) {
    *y = (scaled){.is = true, .axis = 1, .count = s->channels};
    for (uint32_t c = 0; c < s->channels; c++) {
      y->from[c] = c;
      y->factor[c] = 1;
    }
    return;
  }
  for (uint32_t i = 0; i < v->count && !v->owner; i++) {
    const scaled *x = of(s, v->x[i]);
    if (!x->is) continue;
    scaled made;
    if (take(s, v, i, &made)) {
      *y = made;
      return;
    }
    if (is_arithmetic(v))
      s->why = "its first nodes are another preprocessing than a scale and shift";
    if (s->seen.is && !is_same(&s->seen, x)) s->why = "it reads its pixels in two ways";
    s->seen = *x;
  }
}

/* ---------------------------------------------------------------------------------- the range */

/* The colour that becomes 0, of 0 to 1, beside that of ImageNet or CLIP: 1 in this order, -1 in the
 * other, 0: not that colour. */
static int order_of(const scaled *seen, double range) {
  static const double mean[] = {0.485, 0.457, 0.407};
  bool same = true, turned = true;
  for (uint32_t c = 0; c < 3; c++) {
    const double zero = -seen->shift[c] / seen->factor[c] / range;
    same = same && fabs(zero - mean[c]) < 0.015;
    turned = turned && fabs(zero - mean[2 - c]) < 0.015;
  }
  return same ? 1 : turned ? -1 : 0;
}

/* Whether black and white of a range become numbers as models take them: a few deviations apart, or
 * as bytes are. */
static bool fits(const scaled *seen, double range) {
  for (uint32_t c = 0; c < seen->count; c++) {
    const double zero = -seen->shift[c] / seen->factor[c] / range, span = seen->factor[c] * range;
    if (!(zero >= -0.01 && zero <= 1.01 && span >= 0.5 && span <= 300) || (span > 16 && span < 200))
      return false;
  }
  return true;
}

static bool is_identity(const scaled *seen) {
  for (uint32_t c = 0; c < seen->count; c++)
    if (fabs(seen->factor[c] - 1) > 1e-3 || fabs(seen->shift[c]) > 1e-3) return false;
  return true;
}

static void find_range(search *s, bool bytes, float *range) {
  const scaled *seen = &s->seen;
  bool straight = s->channels == 1 || seen->count == s->channels; /* grey may be repeated */
  for (uint32_t c = 0; straight && s->channels > 1 && c < seen->count; c++)
    straight = seen->from[c] == c;
  const bool turned = s->channels == 3 && seen->count == 3 && seen->from[0] == 2 &&
                      seen->from[1] == 1 && seen->from[2] == 0;
  if (!straight && !turned) {
    s->why = "it takes its channels apart";
  } else if (bytes) {
    *range = 255;
  } else if (!is_identity(seen)) {
    /* a shift alone by more than a colour of 0 to 1 can be is one of 0 to 255 */
    const bool one = fits(seen, 1);
    if (one || fits(seen, 255))
      *range = one ? 1 : 255;
    else
      s->why = "its first nodes scale and shift pixels of a range that heed does not know";
  }
  const int order = *range > 0 && s->channels == 3 ? order_of(seen, (double)*range) : 0;
  if (!s->why && ((turned && order != -1) || (straight && order == -1)))
    s->why = "it takes its channels as blue, green, red, or turns them";
}

heed_status heed_pixels_find(heed_lower *l, const value *image, float *range, heed_error *error) {
  search s = {.l = l, .values = heed_lower_take(l, l->order_count + 1, sizeof *s.values)};
  *range = 0;
  s.channels = (uint32_t)image->dims[1];
  if (image->dims[1] > MOST_FOLLOWED) return HEED_OK;
  if (!s.values) return l->status;
  for (size_t i = 0; i < l->order_count && !s.why; i++) look(&s, l->order[i], image);
  if (!s.why && s.seen.is) find_range(&s, !heed_onnx_is_float(l->types[image->input]), range);
  if (!s.why) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: pictures as the graph takes them are not known (%s; heed eval runs the "
                   "graph)",
                   l->file->name, s.why);
}
