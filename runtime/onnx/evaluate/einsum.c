/* Einsum: sums of products by an equation such as "bhid,bhjd->bhij". See einsum.h, evaluate.h. */
#include "onnx/evaluate/einsum.h"

#include <string.h>

#include "base/status.h"

#define LETTERS 128 /* by character; and behind them the axes of an ellipsis */
#define NAMES (LETTERS + HEED_ONNX_MAX_RANK)

/* A term: the names of its axes, and where its ellipsis stands. */
typedef struct term {
  uint8_t name[HEED_ONNX_EINSUM_LABELS];
  uint32_t count, ellipsis;
  bool open;
} term;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* One term from *text on, which then stands behind it. */
static heed_status read_term(heed_onnx_call *call, const char **text, term *t) {
  const char *c = *text;
  *t = (term){0};
  for (; *c && *c != ',' && !(c[0] == '-' && c[1] == '>'); c++) {
    if (*c == ' ') continue;
    if (strncmp(c, "...", 3) == 0 && !t->open) {
      t->open = true;
      t->ellipsis = t->count;
      c += 2;
    } else if (is_letter(*c) && t->count < HEED_ONNX_EINSUM_LABELS) {
      t->name[t->count++] = (uint8_t)*c;
    } else {
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid equation (found %.60s)", c);
    }
  }
  *text = c;
  return HEED_OK;
}

/* The term with its ellipsis written out: `axes` of the `most` axes of any ellipsis. */
static heed_status write_out(heed_onnx_call *call, term *t, uint32_t axes, uint32_t most) {
  if (!t->open) return HEED_OK;
  if (t->count + axes > HEED_ONNX_EINSUM_LABELS)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "too many axes");
  memmove(t->name + t->ellipsis + axes, t->name + t->ellipsis, t->count - t->ellipsis);
  for (uint32_t i = 0; i < axes; i++)
    t->name[t->ellipsis + i] = (uint8_t)(LETTERS + most - axes + i);
  t->count += axes;
  return HEED_OK;
}

/* Without "->": the ellipsis, and in order the letters that stand once. */
static void imply_output(const term *terms, uint32_t inputs, term *output) {
  uint8_t seen[LETTERS] = {0};
  *output = (term){.open = true};
  for (uint32_t k = 0; k < inputs; k++)
    for (uint32_t i = 0; i < terms[k].count; i++)
      if (seen[terms[k].name[i]] < 2) seen[terms[k].name[i]]++;
  for (uint32_t c = 0; c < LETTERS && output->count < HEED_ONNX_EINSUM_LABELS; c++)
    if (seen[c] == 1) output->name[output->count++] = (uint8_t)c;
}

/* Labels of names: those of the output first. */
static heed_status label_all(heed_onnx_call *call, const term *terms, const term *output,
                             const uint64_t *const *dims, heed_onnx_einsum *e) {
  uint8_t label[NAMES];
  memset(label, 0xFF, sizeof label);
  for (uint32_t i = 0; i < output->count; i++) {
    if (label[output->name[i]] != 0xFF)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "an axis stands twice in its output");
    label[output->name[i]] = (uint8_t)e->labels++;
  }
  e->outputs = e->labels;
  for (uint32_t k = 0; k < e->inputs; k++)
    for (uint32_t i = 0; i < terms[k].count; i++) {
      uint8_t *at = &label[terms[k].name[i]];
      if (*at == 0xFF && e->labels == HEED_ONNX_EINSUM_LABELS)
        return heed_onnx_refuse(call, HEED_UNSUPPORTED, "too many axes");
      if (*at == 0xFF) *at = (uint8_t)e->labels++;
      e->label[k][i] = *at;
      uint64_t *size = &e->size[*at];
      if (*size > 1 && dims[k][i] != 1 && dims[k][i] != *size)
        return heed_onnx_refuse(call, HEED_INVALID_FILE,
                                "its inputs do not fit (found axes of %llu and %llu)",
                                (unsigned long long)*size, (unsigned long long)dims[k][i]);
      if (*size == 0 || dims[k][i] != 1) *size = dims[k][i];
    }
  for (uint32_t i = 0; i < e->outputs; i++)
    if (e->size[i] == 0)
      return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                              "an axis of its output has no input, or no element");
  return HEED_OK;
}

heed_status heed_onnx_read_einsum(heed_onnx_call *call, uint32_t inputs, const uint32_t *rank,
                                  const uint64_t *const *dims, heed_onnx_einsum *e) {
  const char *text = heed_onnx_text(call, "equation", "");
  term terms[HEED_ONNX_EINSUM_INPUTS], output;
  uint32_t most = 0;
  *e = (heed_onnx_einsum){.inputs = inputs};
  if (inputs == 0 || inputs > HEED_ONNX_EINSUM_INPUTS)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "%u inputs (expected 1 to %d)", inputs,
                            HEED_ONNX_EINSUM_INPUTS);
  for (uint32_t k = 0; k < inputs; k++) {
    HEED_TRY(read_term(call, &text, &terms[k]));
    const bool ends = *text != ',', last = k + 1 == inputs;
    if (ends != last || rank[k] < terms[k].count || (!terms[k].open && rank[k] != terms[k].count))
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "its equation does not fit its inputs");
    e->rank[k] = rank[k];
    if (terms[k].open && rank[k] - terms[k].count > most) most = rank[k] - terms[k].count;
    if (!last) text++;
  }
  if (*text) {
    text += 2;
    HEED_TRY(read_term(call, &text, &output));
    if (*text) return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid equation");
  } else {
    imply_output(terms, inputs, &output);
  }
  for (uint32_t k = 0; k < inputs; k++)
    HEED_TRY(write_out(call, &terms[k], rank[k] - terms[k].count, most));
  HEED_TRY(write_out(call, &output, most, most));
  if (output.count > HEED_ONNX_MAX_RANK)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "too many axes");
  return label_all(call, terms, &output, dims, e);
}

/* Steps through the elements of an input along each label; an axis of 1 is broadcast. */
static void strides_of(const heed_onnx_einsum *e, uint32_t input, const heed_onnx_array *x,
                       uint64_t *stride) {
  uint64_t step = 1;
  for (uint32_t i = x->rank; i-- > 0; step *= x->dims[i])
    if (x->dims[i] != 1) stride[e->label[input][i]] += step;
}

static heed_status run_einsum(heed_onnx_call *call) {
  const heed_onnx_array *x[HEED_ONNX_EINSUM_INPUTS];
  const uint64_t *dims[HEED_ONNX_EINSUM_INPUTS];
  uint32_t rank[HEED_ONNX_EINSUM_INPUTS];
  uint64_t stride[HEED_ONNX_EINSUM_INPUTS][HEED_ONNX_EINSUM_LABELS] = {{0}},
           index[HEED_ONNX_EINSUM_LABELS] = {0}, at[HEED_ONNX_EINSUM_INPUTS] = {0}, inner = 1;
  heed_onnx_einsum e;
  for (uint32_t k = 0; k < call->in_count && k < HEED_ONNX_EINSUM_INPUTS; k++) {
    if (!(x[k] = heed_onnx_input(call, k))) return HEED_INVALID_FILE;
    rank[k] = x[k]->rank;
    dims[k] = x[k]->dims;
  }
  HEED_TRY(heed_onnx_read_einsum(call, call->in_count, rank, dims, &e));
  for (uint32_t k = 0; k < e.inputs; k++) strides_of(&e, k, x[k], stride[k]);
  HEED_TRY(heed_onnx_output(call, 0, x[0]->type, e.outputs, e.size));
  for (uint32_t i = e.outputs; i < e.labels; i++) {
    HEED_TRY(heed_onnx_count_steps(call, inner, e.size[i], e.inputs));
    inner *= e.size[i];
  }
  HEED_TRY(heed_onnx_count_steps(call, inner, call->out[0]->count, e.inputs));
  for (uint64_t i = 0; i < call->out[0]->count; i++) {
    double sum = 0;
    for (uint64_t j = 0; j < (inner ? inner : 1); j++) {
      double product = inner ? 1 : 0;
      for (uint32_t k = 0; inner && k < e.inputs; k++) product *= heed_onnx_number(x[k], at[k]);
      sum += product;
      for (uint32_t axis = e.labels; axis-- > (j + 1 < inner ? e.outputs : 0);) {
        const bool more = ++index[axis] < e.size[axis];
        for (uint32_t k = 0; k < e.inputs; k++)
          at[k] += more ? stride[k][axis] : (uint64_t)0 - stride[k][axis] * (e.size[axis] - 1);
        if (more) break;
        index[axis] = 0;
      }
    }
    heed_onnx_set(call->out[0], i, sum);
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_einsums[] = {{"Einsum", run_einsum, 0}, {NULL, NULL, 0}};
