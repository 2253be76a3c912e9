/* Graphs of ONNX as short texts. */
#ifndef HEED_TESTS_SUPPORT_ONNX_NODES_H
#define HEED_TESTS_SUPPORT_ONNX_NODES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_file.h"
#include "support/test.h"

static inline void put_random(test_message *graph, const char *name, uint32_t rank,
                              const uint32_t *dims) {
  float values[1024];
  uint32_t count = 1, seed = (uint32_t)name[0] * 31 + (uint32_t)name[1];
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  for (uint32_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 16) / 32768 - 1;
  }
  test_put_raw(graph, name, 1, rank, dims, values, count * sizeof *values);
}

static inline void put_sizes(test_message *graph, const char *name, uint32_t count,
                             const int64_t *sizes) {
  test_put_raw(graph, name, 7, 1, &count, sizes, count * sizeof *sizes);
}

/* Nodes "Op inputs output [numbers];...": numbers are a Transpose's perm, a Concat's or
 * Gather's axis, a Conv's
 * strides, a ReduceMean's axes. */
static inline void put_nodes(test_message *graph, const char *nodes) {
  for (const char *at = nodes; *at;) {
    char op[24], from[40], to[16], text[24] = "";
    int64_t numbers[8];
    uint32_t count = 0;
    int next = 0;
    test_message attributes = {0};
    assert_true(sscanf(at, "%23s %39s %15[^ ;]%n %23[0-9,]%n", op, from, to, &next, text, &next) >=
                3);
    at += next + (at[next] == ';');
    for (char *number = strtok(text, ","); number; number = strtok(NULL, ","))
      numbers[count++] = strtol(number, NULL, 10);
    if (strcmp(op, "Concat") == 0 || strcmp(op, "Gather") == 0)
      test_put_integer(&attributes, "axis", numbers[0]);
    if (strcmp(op, "Transpose") == 0) test_put_integers(&attributes, "perm", count, numbers);
    if (strcmp(op, "Conv") == 0) test_put_integers(&attributes, "strides", count, numbers);
    if (strcmp(op, "ReduceMean") == 0 && count)
      test_put_integers(&attributes, "axes", count, numbers);
    test_put_node(graph, op, to, from, to, &attributes);
  }
}

#endif
