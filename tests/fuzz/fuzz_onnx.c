/* Any bytes as an ONNX file, read from memory and through a callback; every byte of every weight
 * that it promises is there. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "support/onnx_functions.h"
#include "support/test.h"

static void use(const heed_context *context, heed_onnx *onnx) {
  const heed_source source = heed_onnx_source(onnx);
  heed_safetensors *file;
  heed_error error;
  unsigned char bytes[64];
  /* names with controls and headers that are too long: nothing else is wrong */
  if (heed_safetensors_open(context, &source, "f.onnx", &file, &error) != HEED_OK) {
    if (strstr(error.message, "nvalid")) return;
    fprintf(stderr, "%s\n", error.message);
    abort();
  }
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
    const size_t count = tensor->bytes < sizeof bytes ? (size_t)tensor->bytes : sizeof bytes;
    if (source.read(source.user, tensor->offset, bytes, count, &error) != HEED_OK ||
        source.read(source.user, tensor->offset + tensor->bytes - count, bytes, count, &error) !=
            HEED_OK) {
      fprintf(stderr, "%s\n", error.message);
      abort();
    }
  }
  heed_safetensors_destroy(file);
}

/* x [2, 3] for graphs that take it. */
static const unsigned char input[] =
    "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}       "
    "\0\0\x80\x3F\0\0\0\x40\0\0\0\xBF\0\0\x80\x7F\0\0\x80\x3E\0\0\0\0";

/* In double, and on kernels where `backend` is not NULL. */
static void run_graph(heed_onnx *onnx, heed_backend *backend) {
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {sizeof input - 1, input, NULL, NULL},
                                        .attentions = true,
                                        .most_elements = 1u << 16,
                                        .most_steps = 1u << 24,
                                        .backend = backend};
  heed_onnx_result *result;
  heed_error error;
  const heed_status status = heed_onnx_evaluate(onnx, &desc, &result, &error);
  if (status == HEED_OK)
    heed_onnx_result_destroy(result);
  else if (status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED &&
           status != HEED_OUT_OF_MEMORY)
    abort();
}

/* backend: NULL runs nothing. */
static void try_source(heed_context *context, heed_backend *backend, const heed_source *source) {
  heed_onnx *onnx;
  heed_error error;
  const heed_onnx_desc desc = {sizeof desc, *source, "f.onnx", NULL, NULL};
  const heed_status status = heed_onnx_open(context, &desc, &onnx, &error);
  if (status == HEED_OK) {
    use(context, onnx);
    if (backend) run_graph(onnx, NULL);
    if (backend) run_graph(onnx, backend);
    heed_onnx_destroy(onnx);
  } else if (status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static heed_context *context; /* both last as long as the program */
  static heed_backend *backend;
  heed_error error;
  const heed_cpu_desc one = {sizeof one, 1, NULL};
  if (!context && (heed_context_create(NULL, &context, &error) != HEED_OK ||
                   heed_cpu_backend_create(context, &one, &backend, &error) != HEED_OK))
    abort();
  test_bytes raw = {(unsigned char *)(uintptr_t)data, size};
  const heed_source memory = test_source(raw.data, raw.size), callback = test_callback_source(&raw);
  try_source(context, backend, &memory);
  try_source(context, NULL, &callback);
  return 0;
}

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
