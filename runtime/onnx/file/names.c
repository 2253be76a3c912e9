/* The names that weights had where a model was traced. See file.h. The first rule that applies:
 *
 *  1. the initializer's own name, where it is a path, without `_quantized`;
 *  2. of the right factor of a product: the name of the bias that the product is added to, its last
 *     `bias` replaced by `weight`;
 *  3. the scope of the product's node (its name without the last part, `/` as `.`) and `.weight`.
 *
 * Names reach through Identity, which stands for equal weights that were stored once, and through
 * dequantisation. The factor of a product is stored [in, out]; as a weight it is turned. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/file.h"

/* A factor of a product: where its numbers are, and the nodes that scale them. */
typedef struct factor {
  heed_onnx_weight weight; /* data NULL: not a constant */
  const char *own;         /* the initializer's name, without `_quantized` */
} factor;

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), want = strlen(end);
  return length >= want && strcmp(text + length - want, end) == 0;
}

/* Whether an exporter kept the name: others are "onnx::MatMul_235", "235", "val_12" or
 * "/layer/Constant_output_0". */
static bool is_path(const char *name) {
  if (!*name || *name == '/' || strstr(name, "::")) return false;
  const char *digits = strncmp(name, "val_", 4) == 0 ? name + 4 : name;
  return digits[strspn(digits, "0123456789")] != '\0';
}

static const char *without_end(heed_onnx *file, const char *name, const char *end) {
  if (!ends_with(name, end)) return name;
  const size_t length = strlen(name) - strlen(end);
  char *copy = heed_onnx_take(&file->arena, length + 1, 1);
  if (!copy) return name;
  memcpy(copy, name, length);
  copy[length] = '\0';
  return copy;
}

static bool is_read(const heed_onnx_tensor *tensor) {
  return !tensor || heed_onnx_type_bits(tensor->type) > 0;
}

/* A weight of a type that heed does not read, such as a complex number, is left out. */
static heed_status add_weight(heed_onnx *file, const heed_onnx_weight *weight, const char *name,
                              heed_error *error) {
  if (!is_read(weight->data) || !is_read(weight->scale) || !is_read(weight->zero)) {
    heed_log(file->context, HEED_LOG_WARNING, "%s: weight %.*s is left out: its type is not read",
             file->name, heed_utf8_cut(name, 100), name);
    return HEED_OK;
  }
  if (!heed_grow(file->context, &file->weights, &file->weight_room, (size_t)file->weight_count + 1,
                 sizeof *file->weights))
    return heed_fail_memory(error, file->name, file->weight_room * sizeof *file->weights);
  heed_onnx_weight *to = &file->weights[file->weight_count++];
  *to = *weight;
  to->name = name;
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------- factors */

/* The node behind Cast and Identity. */
static const heed_onnx_node *behind_casts(const heed_onnx *file, heed_onnx_id value) {
  for (uint32_t hops = 0; hops < 4; hops++) {
    const heed_onnx_node *node = file->makers[value].node;
    if (!node || (strcmp(node->op, "Cast") != 0 && strcmp(node->op, "Identity") != 0) ||
        node->input_count != 1)
      return node;
    value = node->in[0];
  }
  return NULL;
}

static heed_onnx_id input_of(const heed_onnx_node *node, uint32_t index) {
  return node && index < node->input_count ? node->in[index] : 0;
}

static const char *name_of(const heed_onnx *file, heed_onnx_id value) {
  return file->makers[value].name;
}

static int64_t integer_of(const heed_onnx_node *node, const char *name, int64_t otherwise) {
  const heed_onnx_attribute *attribute = heed_onnx_find_attribute(node, name);
  return attribute ? attribute->i : otherwise;
}

/* A value that is a constant, plain or behind DequantizeLinear, but of blocks. */
static factor find_factor(heed_onnx *file, heed_onnx_id value) {
  factor found = {{0}, ""};
  const heed_onnx_node *node = heed_onnx_node_of(file, value, "DequantizeLinear");
  found.weight.data = heed_onnx_tensor_of(file, node ? input_of(node, 0) : value);
  if (node) {
    found.weight.scale = heed_onnx_tensor_of(file, input_of(node, 1));
    found.weight.zero = heed_onnx_tensor_of(file, input_of(node, 2));
    const int64_t axis = integer_of(node, "axis", 1);
    const uint32_t rank = found.weight.data ? found.weight.data->rank : 0;
    found.weight.axis = (uint32_t)(axis < 0 ? axis + rank : axis);
    if (!found.weight.scale || integer_of(node, "block_size", 0)) found.weight.data = NULL;
  }
  if (found.weight.data) found.own = without_end(file, found.weight.data->name, "_quantized");
  return found;
}

/* The scale of a product of integers: the constant that its floats are multiplied by, beside the
 * one of the other factor. Of two constants nobody knows which is whose. */
static const heed_onnx_tensor *scale_of(const heed_onnx *file, const heed_onnx_node *multiply) {
  const heed_onnx_tensor *found = NULL;
  for (uint32_t i = 0; i < multiply->input_count; i++) {
    const heed_onnx_node *scales = heed_onnx_node_of(file, multiply->in[i], "Mul");
    for (uint32_t k = 0; scales && k < scales->input_count; k++) {
      const heed_onnx_tensor *tensor = heed_onnx_tensor_of(file, scales->in[k]);
      if (tensor && found) return NULL;
      if (tensor) found = tensor;
    }
  }
  return found;
}

/* The product of integers behind Mul(Cast(product), scales), or NULL. */
static const heed_onnx_node *integer_product(const heed_onnx *file, const heed_onnx_node *multiply,
                                             const char *op) {
  for (uint32_t i = 0; i < multiply->input_count; i++) {
    const heed_onnx_node *cast = heed_onnx_node_of(file, multiply->in[i], "Cast");
    const heed_onnx_node *product = cast ? heed_onnx_node_of(file, input_of(cast, 0), op) : NULL;
    if (product) return product;
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------ products */

/* "/encoder/layers/layers.0/query/MatMul" -> "encoder.layers.0.query.weight": a list and its item
 * are one part. */
static const char *scope_name(heed_onnx *file, const char *node) {
  const char *last = strrchr(node, '/');
  char *name = heed_onnx_take(&file->arena, strlen(node) + sizeof ".weight", 1);
  if (!last || !name) return "";
  size_t length = 0;
  for (const char *part = node + (*node == '/'); part < last;) {
    const size_t size = strcspn(part, "/");
    const char *next = part + size + 1;
    const bool is_list = next < last && strncmp(next, part, size) == 0 && next[size] == '.';
    if (!is_list) {
      if (length) name[length++] = '.';
      memcpy(name + length, part, size);
      length += size;
    }
    part = next;
  }
  if (length == 0) return "";
  strcpy(name + length, ".weight");
  return name;
}

/* "q.bias" -> "q.weight"; "in_proj_bias" -> "in_proj_weight"; "" for others. */
static const char *name_by_bias(heed_onnx *file, const char *bias) {
  if (!is_path(bias) || !ends_with(bias, "bias")) return "";
  const size_t length = strlen(bias) - strlen("bias");
  char *name = heed_onnx_take(&file->arena, length + sizeof "weight", 1);
  if (!name) return "";
  snprintf(name, length + sizeof "weight", "%.*sweight", (int)length, bias);
  return name;
}

/* Adds a factor under its own name, the bias's, or the node's. */
static heed_status add_factor(heed_onnx *file, factor *found, const char *bias,
                              const heed_onnx_node *product, heed_error *error) {
  const bool own = is_path(found->own);
  const char *name = own ? found->own : name_by_bias(file, bias);
  if (!*name) name = scope_name(file, product->name);
  /* a parameter that is no linear map's is multiplied as it is: CLIP's "proj" */
  if (own && !ends_with(name, ".weight")) found->weight.turned = false;
  return *name ? add_weight(file, &found->weight, name, error) : HEED_OK;
}

static heed_status name_matmul(heed_onnx *file, const heed_onnx_node *node, const char *bias,
                               heed_error *error) {
  factor found = find_factor(file, input_of(node, 1));
  if (!found.weight.data || found.weight.data->rank != 2) return HEED_OK;
  found.weight.turned = true;
  return add_factor(file, &found, bias, node, error);
}

static heed_status name_integer(heed_onnx *file, const heed_onnx_node *multiply, const char *bias,
                                heed_error *error) {
  const heed_onnx_node *matmul = integer_product(file, multiply, "MatMulInteger"),
                       *conv = matmul ? NULL : integer_product(file, multiply, "ConvInteger"),
                       *node = matmul ? matmul : conv;
  if (!node) return HEED_OK;
  factor found = find_factor(file, input_of(node, 1));
  if (!found.weight.data || (matmul && found.weight.data->rank != 2)) return HEED_OK;
  found.weight.scale = scale_of(file, multiply);
  found.weight.zero = heed_onnx_tensor_of(file, input_of(node, 3));
  found.weight.axis = matmul ? 1 : 0;
  found.weight.turned = matmul;
  return found.weight.scale ? add_factor(file, &found, bias, node, error) : HEED_OK;
}

static heed_status name_blocks(heed_onnx *file, const heed_onnx_node *node, const char *bias,
                               heed_error *error) {
  factor found = find_factor(file, input_of(node, 1));
  heed_onnx_weight *weight = &found.weight;
  const int64_t depth = integer_of(node, "K", 0), rows = integer_of(node, "N", 0),
                bits = integer_of(node, "bits", 4), block = integer_of(node, "block_size", 0);
  weight->scale = heed_onnx_tensor_of(file, input_of(node, 2));
  weight->zero = heed_onnx_tensor_of(file, input_of(node, 3));
  if (!weight->data || !weight->scale) return HEED_OK;
  if (depth < 1 || depth > INT32_MAX || rows < 1 || rows > INT32_MAX || block < 8 ||
      block > 65536 || (bits != 2 && bits != 4 && bits != 8) || block * bits % 8 ||
      input_of(node, 4))
    return HEED_OK; /* who needs the weight says that it is missing */
  *weight = (heed_onnx_weight){.data = weight->data,
                               .scale = weight->scale,
                               .zero = weight->zero,
                               .bits = (uint32_t)bits,
                               .block = (uint32_t)block,
                               .rank = 2,
                               .dims = {(uint64_t)rows, (uint64_t)depth}};
  found.own = ""; /* the quantiser's */
  if (input_of(node, 5)) bias = name_of(file, input_of(node, 5));
  return add_factor(file, &found, bias, node, error);
}

/* Whether a Gemm multiplies more than its factors: its matrix is then not the weight. */
static bool is_scaled(const heed_onnx_node *gemm) {
  const heed_onnx_attribute *alpha = heed_onnx_find_attribute(gemm, "alpha"),
                            *beta = heed_onnx_find_attribute(gemm, "beta");
  return (alpha && alpha->f != 1.0f) || (beta && beta->f != 1.0f);
}

/* A convolution, or a Gemm, whose matrix is [out, in] with transB. */
static heed_status name_direct(heed_onnx *file, const heed_onnx_node *node, heed_error *error) {
  factor found = find_factor(file, input_of(node, 1));
  if (!found.weight.data) return HEED_OK;
  if (strcmp(node->op, "Gemm") == 0) {
    if (found.weight.data->rank != 2 || is_scaled(node)) return HEED_OK;
    found.weight.turned = !integer_of(node, "transB", 0);
  }
  return add_factor(file, &found, name_of(file, input_of(node, 2)), node, error);
}

/* DequantizeLinear of a constant, or of rows that Gather took from one. */
static heed_status name_dequantised(heed_onnx *file, const heed_onnx_node *node,
                                    heed_error *error) {
  factor found = find_factor(file, node->output_count ? node->out[0] : 0);
  const heed_onnx_node *gather = heed_onnx_node_of(file, input_of(node, 0), "Gather");
  if (!found.weight.data && gather) {
    found.weight = (heed_onnx_weight){.data = heed_onnx_tensor_of(file, input_of(gather, 0)),
                                      .scale = heed_onnx_tensor_of(file, input_of(node, 1)),
                                      .zero = heed_onnx_tensor_of(file, input_of(node, 2))};
    /* several scales are along the axes of what was taken, which are not the table's */
    if (found.weight.scale && found.weight.scale->count != 1) return HEED_OK;
    if (found.weight.data) found.own = without_end(file, found.weight.data->name, "_quantized");
  }
  if (!found.weight.data || !found.weight.scale || !is_path(found.own)) return HEED_OK;
  return add_weight(file, &found.weight, found.own, error);
}

/* The product that an Add with a constant adds to. */
static heed_status name_sum(heed_onnx *file, const heed_onnx_node *node, bool *named,
                            heed_error *error) {
  if (node->input_count != 2) return HEED_OK;
  const bool first = heed_onnx_tensor_of(file, node->in[0]) != NULL;
  const char *bias = node->inputs[first ? 0 : 1];
  const heed_onnx_node *product = behind_casts(file, node->in[first ? 1 : 0]);
  if (!product || !*name_by_bias(file, bias)) return HEED_OK;
  const size_t index = (size_t)(product - file->model.graph.nodes);
  if (index >= file->model.graph.node_count || named[index]) return HEED_OK;
  named[index] = true;
  if (strcmp(product->op, "MatMul") == 0) return name_matmul(file, product, bias, error);
  if (strcmp(product->op, "Mul") == 0) return name_integer(file, product, bias, error);
  if (strcmp(product->op, "MatMulNBits") == 0) return name_blocks(file, product, bias, error);
  named[index] = false;
  return HEED_OK;
}

static heed_status name_node(heed_onnx *file, const heed_onnx_node *node, heed_error *error) {
  if (strcmp(node->op, "MatMul") == 0) return name_matmul(file, node, "", error);
  if (strcmp(node->op, "Mul") == 0) return name_integer(file, node, "", error);
  if (strcmp(node->op, "MatMulNBits") == 0) return name_blocks(file, node, "", error);
  if (strcmp(node->op, "Gemm") == 0 || strcmp(node->op, "Conv") == 0)
    return name_direct(file, node, error);
  return HEED_OK;
}

/* ----------------------------------------------------------------------------------------- all */

static heed_status name_products(heed_onnx *file, bool *named, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (strcmp(graph->nodes[i].op, "Add") == 0)
      HEED_TRY(name_sum(file, &graph->nodes[i], named, error));
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (!named[i]) HEED_TRY(name_node(file, &graph->nodes[i], error));
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (strcmp(graph->nodes[i].op, "DequantizeLinear") == 0)
      HEED_TRY(name_dequantised(file, &graph->nodes[i], error));
  return HEED_OK;
}

/* Whether .safetensors has the type as it is stored: elements of less than a byte are packed. */
static bool is_stored_alike(const heed_onnx_tensor *tensor) {
  return heed_onnx_type_safetensors(tensor->type) && heed_onnx_type_bits(tensor->type) % 8 == 0;
}

/* Initializers and Identity nodes with names of their own. Parts of quantised weights that have
 * found a name are left out by it. */
static heed_status name_plain(heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t i = 0; i < graph->initializer_count; i++) {
    const heed_onnx_tensor *tensor = &graph->initializers[i];
    const heed_onnx_weight plain = {.data = tensor};
    if (is_path(tensor->name) && is_stored_alike(tensor))
      HEED_TRY(add_weight(file, &plain, tensor->name, error));
  }
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const heed_onnx_node *node = &graph->nodes[i];
    if (strcmp(node->op, "Identity") != 0 || node->output_count != 1) continue;
    const heed_onnx_weight plain = {.data = heed_onnx_tensor_of(file, node->out[0])};
    if (plain.data && is_path(node->outputs[0]) && is_stored_alike(plain.data))
      HEED_TRY(add_weight(file, &plain, node->outputs[0], error));
  }
  return HEED_OK;
}

static bool weight_less(const void *user, uint32_t a, uint32_t b) {
  const heed_onnx_weight *weights = user;
  const int order = strcmp(weights[a].name, weights[b].name);
  return order ? order < 0 : a < b;
}

/* Of weights with one name the first is kept: how a product uses it comes before how it is stored.
 * Where two products claim one name for different numbers, nobody knows whose it is. */
static void drop_same(heed_onnx *file, const uint32_t *order) {
  for (uint32_t i = 0, end; i < file->weight_count; i = end) {
    heed_onnx_weight *first = &file->weights[order[i]];
    bool differ = false;
    for (end = i + 1; end < file->weight_count; end++) {
      heed_onnx_weight *other = &file->weights[order[end]];
      if (strcmp(other->name, first->name) != 0) break;
      differ |= other->data != first->data && !heed_onnx_weight_is_plain(other);
      other->data = NULL;
    }
    if (differ) first->data = NULL;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < file->weight_count; i++)
    if (file->weights[i].data) file->weights[kept++] = file->weights[i];
  file->weight_count = kept;
}

heed_status heed_onnx_find_names(heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  bool *named = heed_onnx_take(&file->arena, graph->node_count, sizeof *named);
  if (!named) return heed_fail_memory(error, file->name, graph->node_count * sizeof *named);
  HEED_TRY(name_products(file, named, error));
  HEED_TRY(name_plain(file, error));
  uint32_t *order = heed_onnx_take(&file->arena, file->weight_count, sizeof *order);
  if (!order) return heed_fail_memory(error, file->name, file->weight_count * sizeof *order);
  for (uint32_t i = 0; i < file->weight_count; i++) order[i] = i;
  heed_sort(order, file->weight_count, weight_less, file->weights);
  drop_same(file, order);
  return HEED_OK;
}
