/* What ops of the evaluator share: their inputs, outputs and attributes. See evaluate.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/evaluate/evaluate.h"

/* By the number of their type. Those of the second line of a number change nothing here. */
static const char *const attributes[8] = {
    [1] = "alpha|beta|gamma|epsilon|scale|softcap|min|max|value|value_float|cubic_coeff_a|"
          "extrapolation_value|"
          "mask_filter_value|ratio|momentum",
    [2] = "axis|blocksize|group|keepdims|noop_with_empty_axes|to|start|end|select_last_index|"
          "allowzero|bits|"
          "block_size|K|N|output_dtype|interleaved|num_heads|q_num_heads|kv_num_heads|is_causal|"
          "unidirectional|qk_matmul_output_mode|softmax_precision|left_window_size|"
          "right_window_size|rotary_embedding_dim|upper|reverse|exclusive|exclude_outside|"
          "antialias|fmod|detect_positive|detect_negative|transA|transB|value_int|"
          "num_outputs|stash_type|saturate|precision|accuracy_level|seed|is_test|broadcast|batch_"
          "dims|training_mode|ceil_mode|count_include_pad|storage_order|k|largest|sorted",
    [3] = "auto_pad|mode|approximate|equation|nearest_mode|coordinate_transformation_mode|"
          "keep_aspect_ratio_policy|"
          "round_mode|reduction",
    [4] = "value",
    [6] = "value_floats",
    [7] = "axes|pads|strides|dilations|perm|shape|starts|ends|split|value_ints|qkv_hidden_sizes|"
          "kernel_shape|consumed_inputs"};
/* Of com.microsoft; what they turn on is not here. */
static const char off[] = "do_rotary|is_packed_batching|past_present_share_buffer";

/* The words that a text may be. An op takes one that it does not know for another. */
static const struct {
  const char *op; /* NULL: any */
  const char *attribute, *words;
} texts[] = {{"Pad", "mode", "constant|reflect|edge|wrap"},
             {"Resize", "mode", "nearest|linear|cubic"},
             {"DepthToSpace", "mode", "DCR|CRD"},
             {NULL, "auto_pad", "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
             {NULL, "approximate", "none|tanh"},
             {NULL, "nearest_mode", "round_prefer_floor|round_prefer_ceil|floor|ceil"},
             {NULL, "coordinate_transformation_mode",
              "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|asymmetric|"
              "tf_half_pixel_for_nn|tf_crop_and_resize"},
             {NULL, "keep_aspect_ratio_policy", "stretch|not_larger|not_smaller"},
             {NULL, "round_mode", "up|down|nearest"},
             {NULL, "reduction", "none|add|mul|min|max"}};

static heed_status check_text(heed_onnx_call *call, const heed_onnx_attribute *a) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (strcmp(a->name, texts[i].attribute) == 0 &&
        (!texts[i].op || strcmp(call->node->op, texts[i].op) == 0) &&
        !heed_list_has(texts[i].words, a->s))
      return heed_onnx_refuse(call, HEED_INVALID_FILE,
                              "attribute %.60s is unknown (found \"%.40s\", expected %s)", a->name,
                              a->s, texts[i].words);
  return HEED_OK;
}

/* Numbers that stand for a choice. */
static heed_status check_choice(heed_onnx_call *call, const heed_onnx_attribute *a) {
  const bool mode = strcmp(a->name, "qk_matmul_output_mode") == 0,
             type = strcmp(a->name, "softmax_precision") == 0;
  if ((!mode || (a->i >= 0 && a->i <= 3)) &&
      (!type || a->i == HEED_ONNX_FLOAT || a->i == HEED_ONNX_FLOAT16 || a->i == HEED_ONNX_DOUBLE ||
       a->i == HEED_ONNX_BFLOAT16))
    return HEED_OK;
  return heed_onnx_refuse(call, HEED_INVALID_FILE, "attribute %.60s is unknown (found %lld)",
                          a->name, (long long)a->i);
}

heed_status heed_onnx_check_attributes(heed_onnx_call *call) {
  HEED_TRY(heed_onnx_check_opset(call));
  for (uint32_t i = 0; i < call->node->attribute_count; i++) {
    const heed_onnx_attribute *a = &call->node->attributes[i];
    bool known = false, fits = false;
    for (uint32_t type = 1; type < 8; type++) {
      const bool here = heed_list_has(attributes[type], a->name);
      known = known || here;
      fits = fits || (here && a->type == type);
    }
    /* before opset 7, whose axis is not that of today's rule */
    if (strcmp(a->name, "broadcast") == 0 && heed_onnx_find_attribute(call->node, "axis"))
      return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a broadcast along an axis is not supported");
    if (heed_list_has(off, a->name)) known = fits = a->type == 2 && a->i == 0;
    if (!known)
      return heed_onnx_refuse(call, HEED_UNSUPPORTED, "attribute %.60s is not supported", a->name);
    if (!fits)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "attribute %.60s is of another type",
                              a->name);
    HEED_TRY(heed_onnx_check_schema(call, a->name));
    HEED_TRY(a->type == 3 ? check_text(call, a) : check_choice(call, a));
  }
  return HEED_OK;
}

/* Ops whose inputs are of one kind of numbers in ONNX; the bits of others would be taken for it. */
static const struct {
  const char *ops, *kind;
} kinds[] = {{"And|Or|Xor|Not", "BOOL"},
             {"BitwiseAnd|BitwiseOr|BitwiseXor|BitwiseNot", "whole numbers"},
             {"Exp|Log|Sqrt|Reciprocal|Floor|Ceil|Round|Erf|Sin|Cos|Tan|Asin|Acos|Atan|Sinh|Cosh|"
              "Asinh|Acosh|Atanh|Sigmoid|Tanh|LeakyRelu|Elu|Selu|Celu|HardSigmoid|HardSwish|"
              "Softplus|Softsign|Mish|Gelu|QuickGelu|ThresholdedRelu|Swish|FastGelu|BiasGelu|Mean|"
              "IsNaN|IsInf|Softmax|LogSoftmax|Hardmax|AveragePool|Conv|InstanceNormalization",
              "floats"}};

heed_status heed_onnx_check_type(heed_onnx_call *call, uint32_t index, uint32_t type) {
  const bool floats = heed_onnx_is_float(type), bools = type == HEED_ONNX_BOOL;
  char text[16];
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (heed_list_has(kinds[k].ops, call->node->op) && !(k == 0   ? bools
                                                         : k == 1 ? !floats && !bools
                                                                  : floats))
      return heed_onnx_refuse(call, HEED_INVALID_FILE,
                              "input %u is of another type (found %s, expected %s)", index,
                              heed_onnx_type_name(type, text), kinds[k].kind);
  return HEED_OK;
}

heed_status heed_onnx_spend_steps(heed_onnx_call *call, heed_budget *steps, uint64_t a, uint64_t b,
                                  uint64_t c) {
  uint64_t count;
  if (heed_u64_mul(a, b, &count) && heed_u64_mul(count, c, &count) &&
      heed_budget_spend(steps, count))
    return HEED_OK;
  return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                          "the graph computes too much (expected at most %llu steps in all)",
                          (unsigned long long)steps->most);
}

heed_status heed_onnx_count_steps(heed_onnx_call *call, uint64_t a, uint64_t b, uint64_t c) {
  return heed_onnx_spend_steps(call, &call->evaluator->steps, a, b, c);
}

heed_status heed_onnx_count_shape(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                  uint64_t each) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; i++)
    if (!heed_u64_mul(count, dims[i], &count)) return heed_onnx_count_steps(call, UINT64_MAX, 2, 1);
  return heed_onnx_count_steps(call, count, each, 1);
}

heed_status heed_onnx_make(heed_onnx_call *call, uint32_t type, uint32_t rank, const uint64_t *dims,
                           heed_onnx_array **array) {
  heed_onnx_evaluator *e = call->evaluator;
  uint64_t count = 1;
  *array = NULL;
  if (rank > HEED_ONNX_MAX_RANK)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "too many axes (found %u, expected at most %d)",
                            rank, HEED_ONNX_MAX_RANK);
  for (uint32_t i = 0; i < rank; i++)
    if (dims[i] > INT32_MAX || !heed_u64_mul(count, dims[i] ? dims[i] : 1, &count) ||
        count > e->elements.most - e->elements.spent)
      return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                              "its values are too large (expected at most %llu elements together)",
                              (unsigned long long)e->elements.most);
  for (uint32_t i = 0; i < rank; i++) count = dims[i] ? count : 0;
  HEED_TRY(heed_onnx_count_steps(call, count, 1, 1));
  heed_onnx_array *made = heed_alloc(e->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(call->error, e->file->name, sizeof *made);
  *made = (heed_onnx_array){.type = type, .rank = rank, .count = count};
  if (rank) memcpy(made->dims, dims, rank * sizeof *dims);
  made->data = heed_alloc(e->context, (size_t)count + 1, sizeof *made->data);
  if (!made->data) {
    heed_free(e->context, made);
    return heed_fail_memory(call->error, e->file->name, (size_t)count * sizeof *made->data);
  }
  heed_budget_spend(&e->elements, count);
  *array = made;
  return HEED_OK;
}

void heed_onnx_drop(heed_onnx_evaluator *evaluator, heed_onnx_array *array) {
  if (!array) return;
  heed_budget_return(&evaluator->elements, array->count);
  heed_free(evaluator->context, array->data);
  heed_free(evaluator->context, array);
}

heed_status heed_onnx_output(heed_onnx_call *call, uint32_t index, uint32_t type, uint32_t rank,
                             const uint64_t *dims) {
  return heed_onnx_make(call, type, rank, dims, &call->out[index]);
}

heed_status heed_onnx_output_like(heed_onnx_call *call, uint32_t index, const heed_onnx_array *x) {
  return heed_onnx_output(call, index, x->type, x->rank, x->dims);
}

const heed_onnx_array *heed_onnx_input(heed_onnx_call *call, uint32_t index) {
  if (index < call->in_count && call->in[index]) return call->in[index];
  heed_onnx_refuse(call, HEED_INVALID_FILE, "input %u is missing", index);
  return NULL;
}

int64_t heed_onnx_integer(const heed_onnx_call *call, const char *name, int64_t otherwise) {
  const heed_onnx_attribute *found = heed_onnx_find_attribute(call->node, name);
  return found ? found->i : otherwise;
}

double heed_onnx_float(const heed_onnx_call *call, const char *name, double otherwise) {
  const heed_onnx_attribute *found = heed_onnx_find_attribute(call->node, name);
  return found ? (double)found->f : otherwise;
}

const char *heed_onnx_text(const heed_onnx_call *call, const char *name, const char *otherwise) {
  const heed_onnx_attribute *found = heed_onnx_find_attribute(call->node, name);
  return found ? found->s : otherwise;
}

heed_status heed_onnx_axis(heed_onnx_call *call, int64_t axis, uint32_t rank, uint32_t *result) {
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "axis out of range (found %lld of %u axes)",
                            (long long)axis, rank);
  *result = (uint32_t)(axis < 0 ? axis + rank : axis);
  return HEED_OK;
}

heed_status heed_onnx_mark_axes(heed_onnx_call *call, const heed_onnx_list *list, uint32_t rank,
                                bool *marked) {
  for (uint32_t i = 0; i < list->count; i++) {
    uint32_t axis = 0;
    HEED_TRY(heed_onnx_axis(call, list->item[i], rank, &axis));
    if (marked[axis]) return heed_onnx_refuse(call, HEED_INVALID_FILE, "an axis is named twice");
    marked[axis] = true;
  }
  return HEED_OK;
}

heed_status heed_onnx_read_list(heed_onnx_call *call, const char *attribute, uint32_t index,
                                heed_onnx_list *list) {
  const heed_onnx_attribute *found =
      attribute ? heed_onnx_find_attribute(call->node, attribute) : NULL;
  const heed_onnx_array *input = index < call->in_count ? call->in[index] : NULL;
  *list = (heed_onnx_list){0};
  if (!found && !input) return HEED_OK;
  const uint64_t count = found ? found->count : input->count;
  if (count > HEED_ONNX_MOST_LIST || (!found && heed_onnx_is_float(input->type)))
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "invalid list (found %llu entries, expected at most %d whole numbers)",
                            (unsigned long long)count, HEED_ONNX_MOST_LIST);
  list->there = true;
  list->count = (uint32_t)count;
  for (uint32_t i = 0; i < list->count; i++)
    list->item[i] = found ? found->ints ? found->ints[i] : 0 : input->data[i].i;
  return HEED_OK;
}

/* Read through a small buffer: elements become 8 bytes each. */
heed_status heed_onnx_load(heed_onnx_call *call, const heed_onnx_tensor *tensor,
                           heed_onnx_array **array) {
  const heed_onnx *file = call->evaluator->file;
  const uint32_t bits = heed_onnx_type_bits(tensor->type);
  unsigned char bytes[4096];
  char text[16];
  if (bits == 0)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a tensor of %s is not supported",
                            heed_onnx_type_name(tensor->type, text));
  HEED_TRY(heed_onnx_make(call, tensor->type, tensor->rank, tensor->dims, array));
  const uint64_t each = sizeof bytes * 8 / bits;
  for (uint64_t done = 0; done < tensor->count;) {
    const uint64_t here = tensor->count - done < each ? tensor->count - done : each;
    const heed_status status = heed_onnx_read_bytes(file, tensor, done * bits / 8, bytes,
                                                    (size_t)((here * bits + 7) / 8), call->error);
    if (status != HEED_OK) {
      heed_onnx_drop(call->evaluator, *array);
      *array = NULL;
      return status;
    }
    for (uint64_t i = 0; i < here; i++) {
      const unsigned char *at = bytes + i * bits / 8, packed = (unsigned char)(*at >> i * bits % 8);
      heed_onnx_cell_read(tensor->type, bits < 8 ? &packed : at, &(*array)->data[done + i]);
    }
    done += here;
  }
  return HEED_OK;
}

heed_status heed_onnx_broadcast(heed_onnx_call *call, const heed_onnx_array *a,
                                const heed_onnx_array *b, heed_onnx_array *shape) {
  *shape = (heed_onnx_array){.type = a->type, .rank = a->rank > b->rank ? a->rank : b->rank};
  for (uint32_t i = 0; i < shape->rank; i++) {
    const uint64_t x = i < a->rank ? a->dims[a->rank - 1 - i] : 1,
                   y = i < b->rank ? b->dims[b->rank - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return heed_onnx_refuse(call, HEED_INVALID_FILE,
                              "its inputs do not fit (found axes of %llu and %llu)",
                              (unsigned long long)x, (unsigned long long)y);
    shape->dims[shape->rank - 1 - i] = x == 1 ? y : x;
  }
  return HEED_OK;
}
