/* Functions of ONNX files made in memory for tests. */
#ifndef HEED_TESTS_SUPPORT_ONNX_FUNCTIONS_H
#define HEED_TESTS_SUPPORT_ONNX_FUNCTIONS_H

#include "support/onnx_file.h"

/* FunctionProto of the domain "my", with comma-separated parameters, up to its nodes. */
test_message test_onnx_function(const char *name, const char *inputs, const char *outputs);
/* Its version of the default operator set. */
void test_put_set(test_message *function, uint64_t version);
/* An attribute that stands for the attribute `refers` of the call. */
void test_put_reference(test_message *attributes, const char *name, const char *refers);
/* A call of a function of "my" as a node of a graph (field 1) or of a function (field 7);
 * `attributes`, if not NULL, is put in and freed. */
void test_put_call(test_message *to, uint32_t field, const char *function, const char *inputs,
                   const char *outputs, test_message *attributes);
/* Three functions for a file: gate(a, b) = elu(a) b, a, with the call's alpha or 2; twice(a) calls
 * gate twice, first with alpha of the call's beta; choose(c, a) = 2 a by an If of two branches. */
void test_put_functions(test_message *file);

#endif
