/* Any bytes as an ONNX file, read from memory and through a callback; every byte of every weight
 * that it promises is there. It runs in double, on kernels and lowered, with the inputs of its
 * field FUZZ_INPUTS, or else with some that it asks for. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/onnx_names.h"
#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "support/onnx_functions.h"
#include "support/test.h"

/* Reads the first and the last bytes of every tensor of a file of safetensors. */
static void read_tensors(const heed_context *context, const heed_source *source) {
  heed_safetensors *file;
  heed_error error;
  unsigned char bytes[64];
  /* names with controls and headers that are too long: nothing else is wrong */
  if (heed_safetensors_open(context, source, "f.onnx", &file, &error) != HEED_OK) {
    fuzz_must(strstr(error.message, "nvalid"), error.message);
    return;
  }
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
    const size_t count = tensor->bytes < sizeof bytes ? (size_t)tensor->bytes : sizeof bytes;
    fuzz_must(source->read(source->user, tensor->offset, bytes, count, &error) == HEED_OK &&
                  source->read(source->user, tensor->offset + tensor->bytes - count, bytes, count,
                               &error) == HEED_OK,
              error.message);
  }
  heed_safetensors_destroy(file);
}

/* A tensor for each input that the file takes, of numbers that are small. Free data. */
static test_bytes make_inputs(const heed_onnx *onnx) {
  char header[8192] = "{";
  size_t length = 1, size = 0;
  heed_onnx_port port;
  for (uint32_t i = 0; i < 16 && heed_onnx_takes(onnx, i, &port); i++) {
    const char *type = port.dtype ? port.dtype : "F32";
    const size_t each = strstr(type, "64")   ? 8
                        : strstr(type, "32") ? 4
                        : strstr(type, "16") ? 2
                                             : 1;
    size_t count = 1;
    char shape[160] = "";
    bool plain = strlen(port.name) < 100;
    for (const char *c = port.name; *c; c++) plain = plain && *c >= ' ' && *c != '"' && *c != '\\';
    for (uint32_t k = 0; k < port.rank; k++) {
      const int64_t dim = port.dim[k] < 0                        ? 2
                          : count * (uint64_t)port.dim[k] > 4096 ? 1
                                                                 : port.dim[k];
      count *= (size_t)dim;
      snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lld", k ? "," : "",
               (long long)dim);
    }
    if (plain)
      length += (size_t)snprintf(
          header + length, sizeof header - length,
          "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
          length > 1 ? "," : "", port.name, type, shape, size, size + count * each);
    if (plain) size += count * each;
  }
  snprintf(header + length, sizeof header - length, "}");
  test_bytes made = test_safetensors(header, size);
  /* 0, 0.25, 0.5 as floats of 32 bits; 0, 1 as bytes and whole numbers */
  for (size_t at = made.size - size; at < made.size; at++)
    made.data[at] = at % 4 == 3 ? 0x3E : at % 4 == 2 ? 0x80 : 0;
  if (strstr(header, "\"I") || strstr(header, "\"U8") || strstr(header, "\"BOOL"))
    for (size_t at = made.size - size; at < made.size; at++) made.data[at] = at % 8 == 0;
  return made;
}

/* The inputs that the field FUZZ_INPUTS of the file holds. */
static heed_source kept_inputs(const uint8_t *data, size_t size) {
  for (size_t at = 0; at + 5 <= size; at++) {
    if (data[at] != 0xFA || data[at + 1] != 0x7F) continue;
    size_t length = 0, end = at + 2;
    for (uint32_t shift = 0; end < size && shift < 21; shift += 7) {
      length |= (size_t)(data[end] & 127) << shift;
      if (data[end++] < 128) break;
    }
    if (length <= size - end) return test_source(data + end, length);
  }
  return (heed_source){0};
}

/* In double, and on kernels where `backend` is not NULL. */
static void run_graph(heed_context *context, heed_onnx *onnx, const heed_source *inputs,
                      heed_backend *backend) {
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = *inputs,
                                        .attentions = true,
                                        .most_elements = 1u << 16,
                                        .most_steps = 1u << 22,
                                        .parts = backend != NULL,
                                        .backend = backend};
  heed_onnx_result *result;
  heed_error error;
  const heed_status status = heed_onnx_evaluate(onnx, &desc, &result, &error);
  fuzz_must_refuse(status, &error);
  if (status != HEED_OK) return;
  const heed_source source = heed_onnx_result_source(result);
  char text[64];
  read_tensors(context, &source);
  heed_onnx_way(onnx, backend != NULL, heed_onnx_result_unrounded(result),
                heed_onnx_result_parts(result), text, sizeof text);
  heed_onnx_result_destroy(result);
}

static heed_status take_given(void *user, heed_value input, const float *data, size_t bytes,
                              heed_error *error) {
  (void)user, (void)input, (void)error;
  const volatile float last = bytes ? data[bytes / sizeof *data - 1] : 0;
  (void)last;
  return HEED_OK;
}

/* As what takes pictures and sizes lowers it. */
static void lower(heed_context *context, heed_onnx *onnx, const heed_source *inputs) {
  heed_onnx_lower_desc desc = {.struct_size = sizeof desc,
                               .batch = 2,
                               .height = 8,
                               .width = 4,
                               .length = 3,
                               .picture = true,
                               .parts = true,
                               .most_elements = 1u << 16,
                               .most_steps = 1u << 22};
  for (int round = 0; round < 2; round++) {
    heed_onnx_lowered *lowered;
    heed_onnx_result *known;
    heed_onnx_op_count count;
    heed_onnx_port port;
    heed_value value;
    heed_error error;
    char text[64];
    const heed_status status = heed_onnx_lower(onnx, &desc, &lowered, &error);
    fuzz_must_refuse(status, &error);
    if (round == 0) desc = (heed_onnx_lower_desc){.struct_size = sizeof desc, .inputs = *inputs};
    if (status != HEED_OK) continue;
    for (uint32_t i = 0; heed_onnx_lowered_count(lowered, i, &count); i++) continue;
    for (uint32_t i = 0; heed_onnx_attention_name(onnx, i); i++) {
      heed_onnx_lowered_reach(lowered, i, text, sizeof text);
      heed_onnx_lowered_weights(lowered, i);
    }
    heed_onnx_lowered_in_double(lowered, text, sizeof text);
    fuzz_must_refuse(heed_onnx_lowered_given(lowered, take_given, NULL, &error), &error);
    for (uint32_t i = 0; heed_onnx_gives(onnx, i, &port); i++)
      fuzz_must_refuse(heed_onnx_lowered_output(lowered, i, &value, &error), &error);
    const heed_status found = heed_onnx_lowered_known(lowered, &known, &error);
    fuzz_must_refuse(found, &error);
    if (found == HEED_OK) {
      const heed_source source = heed_onnx_result_source(known);
      read_tensors(context, &source);
      heed_onnx_result_destroy(known);
    }
    heed_onnx_lowered_destroy(lowered);
  }
}

/* A file beside it, of any name. */
static heed_status open_external(void *user, const char *location, heed_source *source,
                                 heed_error *error) {
  if (!strcmp(location, "missing")) {
    snprintf(error->message, sizeof error->message, "f.onnx: there is no %s", location);
    return HEED_INVALID_FILE;
  }
  *source = fuzz_callback_source(user);
  return HEED_OK;
}

/* backend: NULL runs nothing. */
static void try_source(heed_context *context, heed_backend *backend, const heed_source *source,
                       const heed_source *kept) {
  static unsigned char zeros[256];
  static test_bytes beside = {zeros, sizeof zeros};
  heed_onnx *onnx;
  heed_error error;
  const heed_onnx_desc desc = {sizeof desc, *source, "f.onnx", backend ? open_external : NULL,
                               &beside};
  const heed_status status = heed_onnx_open(context, &desc, &onnx, &error);
  fuzz_must_refuse(status, &error);
  if (status != HEED_OK) return;
  const heed_source weights = heed_onnx_source(onnx);
  read_tensors(context, &weights);
  heed_onnx_port port;
  for (uint32_t i = 0; heed_onnx_gives(onnx, i, &port); i++) fuzz_must(port.name, "no name");
  for (uint32_t i = 0; heed_onnx_missing_op(onnx, i); i++) continue;
  if (backend) {
    test_bytes made = make_inputs(onnx);
    const heed_source inputs = kept->size ? *kept : test_source(made.data, made.size);
    run_graph(context, onnx, &inputs, NULL);
    run_graph(context, onnx, &inputs, backend);
    lower(context, onnx, &inputs);
    free(made.data);
  }
  heed_onnx_destroy(onnx);
}

void fuzz_read(const uint8_t *data, size_t size) {
  static heed_context *context; /* both last as long as the program */
  static heed_backend *backend;
  heed_error error;
  const heed_cpu_desc one = {sizeof one, 1, NULL};
  if (!context && (!(context = fuzz_context()) ||
                   heed_cpu_backend_create(context, &one, &backend, &error) != HEED_OK))
    abort();
  test_bytes raw = {(unsigned char *)(uintptr_t)data, size};
  const heed_source memory = test_source(raw.data, raw.size), callback = fuzz_callback_source(&raw),
                    kept = kept_inputs(data, size);
  heed_onnx_begins(data, size);
  try_source(context, backend, &memory, &kept);
  try_source(context, NULL, &callback, &kept);
}

void fuzz_change(fuzz_input *input, test_random *random) { fuzz_change_onnx(input, random); }

#ifndef HEED_LIBFUZZER
/* A tensor of one byte an element, of any count. */
static void put_bytes(test_message *graph, const char *name, uint32_t type, uint32_t count) {
  test_message tensor = {0};
  unsigned char bytes[64] = {1, 2, 3};
  test_put_number(&tensor, 1, count);
  test_put_number(&tensor, 2, type);
  test_put_text(&tensor, 8, name);
  test_put_bytes(&tensor, 9, bytes, count);
  test_put_message(graph, 5, &tensor);
}

/* Weights in 4 bits, in int8, behind Identity and in a Gemm. */
static test_message quantised_file(void) {
  test_message graph = {0}, attributes = {0};
  const uint32_t one[] = {1}, two[] = {2}, matrix[] = {2, 2};
  test_put_integer(&attributes, "K", 40);
  test_put_integer(&attributes, "N", 2);
  test_put_integer(&attributes, "block_size", 16);
  test_put_integer(&attributes, "bits", 4);
  test_put_node(&graph, "MatMulNBits", "/a/MatMul", "x,q,s,z", "h", &attributes);
  test_put_node(&graph, "Identity", "i", "w", "same.bias", NULL);
  test_put_node(&graph, "DequantizeLinear", "d", "v_quantized,w", "v", NULL);
  test_put_node(&graph, "DynamicQuantizeLinear", "e", "x", "xq,xs,xz", NULL);
  test_put_node(&graph, "MatMulInteger", "/c/MatMul", "xq,m,xz", "n", NULL);
  test_put_node(&graph, "Cast", "f", "n", "o", NULL);
  test_put_node(&graph, "Mul", "g", "xs,w", "p", NULL);
  test_put_node(&graph, "Mul", "h", "o,p", "r", NULL);
  test_put_node(&graph, "Gemm", "/k/Gemm", "x,onnx::Gemm_1,b", "y", NULL);
  put_bytes(&graph, "q", 2, 48);
  put_bytes(&graph, "z", 2, 4);
  put_bytes(&graph, "v_quantized", 3, 5);
  test_put_floats(&graph, "s", 1, (const uint32_t[]){6});
  test_put_floats(&graph, "w", 1, one);
  test_put_floats(&graph, "b", 1, two);
  test_put_floats(&graph, "m", 2, matrix);
  test_put_floats(&graph, "onnx::Gemm_1", 2, matrix);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  return test_onnx_file(&graph);
}

/* What is computed of truth values, indices, an equation and a size. */
static test_message indexed_file(void) {
  test_message graph = {0}, equation = {0}, attribute = {0}, cast = {0}, axis = {0};
  const float scales[] = {2, 1.5f};
  test_put_text(&attribute, 1, "equation");
  test_put_text(&attribute, 4, "ij,kj->ik");
  test_put_number(&attribute, 20, 3);
  test_put_message(&equation, 5, &attribute);
  test_put_integer(&cast, "to", 17);
  test_put_integer(&axis, "axis", 1);
  test_put_raw(&graph, "s", 1, 1, (const uint32_t[]){2}, scales, sizeof scales);
  test_put_node(&graph, "Greater", "a", "x,s0", "g", NULL);
  test_put_node(&graph, "Neg", "b", "x", "n", NULL);
  test_put_node(&graph, "Where", "c", "g,x,n", "w", NULL);
  test_put_node(&graph, "ArgMax", "d", "w", "i", NULL);
  test_put_node(&graph, "Gather", "e", "x,i", "t", &axis);
  test_put_node(&graph, "Einsum", "f", "w,x", "m", &equation);
  test_put_node(&graph, "Resize", "g", "w,,s", "r", NULL);
  test_put_node(&graph, "Cast", "h", "r", "y", &cast);
  test_put_floats(&graph, "s0", 0, NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "m");
  test_put_value(&graph, 12, "t");
  test_put_value(&graph, 12, "r");
  return test_onnx_file(&graph);
}

/* Calls of functions, in functions, and with a branch. */
static test_message functions_file(void) {
  test_message graph = {0}, beta = {0};
  const unsigned char truth = 1;
  test_put_raw(&graph, "c", 9, 1, (const uint32_t[]){1}, &truth, 1);
  test_put_float(&beta, "beta", 0.5f);
  test_put_call(&graph, 1, "twice", "x", "t", &beta);
  test_put_call(&graph, 1, "choose", "c,t", "y", NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  test_put_functions(&file);
  return file;
}

int main(int argc, char **argv) {
  static const char *const words[] = {"\x08\x08",
                                      "\x3A\x7F",
                                      "\x2A\x10",
                                      "\x0A\x05",
                                      "\x12\x04",
                                      "\x7A\x02",
                                      "\x4A\x04",
                                      "\x70\x01",
                                      "\x6A\x08",
                                      "\xFF\xFF\xFF\xFF\x0F",
                                      "\x32\x06\x0A\x04",
                                      "\x0A\x08location",
                                      "MatMul",
                                      "Identity",
                                      "Add",
                                      "DequantizeLinear",
                                      "MatMulNBits",
                                      "Gemm",
                                      "Softmax",
                                      "Reshape",
                                      "Transpose",
                                      "Slice",
                                      "Split",
                                      "Gather",
                                      "ReduceMean",
                                      "Attention",
                                      "Conv",
                                      "Resize",
                                      "Einsum",
                                      "ArgMax",
                                      "GatherElements",
                                      "GatherND",
                                      "ScatterND",
                                      "Where",
                                      "Equal",
                                      "Cast",
                                      "...ij,jk->",
                                      "\x10\x0A",
                                      "\x10\x16",
                                      "\xCA\x01",
                                      "\xAA\x01\x05",
                                      NULL};
  test_message linear = test_onnx_linear(), quantised = quantised_file(), block = test_onnx_block(),
               indexed = indexed_file(), functions = functions_file();
  const fuzz_seed seeds[] = {{linear.data, linear.size},
                             {quantised.data, quantised.size},
                             {block.data, block.size},
                             {indexed.data, indexed.size},
                             {functions.data, functions.size}};
  const int status = fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
  free(linear.data);
  free(quantised.data);
  free(block.data);
  free(indexed.data);
  free(functions.data);
  return status;
}
#endif
