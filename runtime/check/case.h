/* A case file: one op's inputs, attributes and expected results, as oracle files and `heed check`
 * have them. An op's from_case asks for what it knows; what nobody asked for is an error, so that
 * no attribute is ignored. */
#ifndef HEED_CHECK_CASE_H
#define HEED_CHECK_CASE_H

#include "heed/graph.h"

typedef struct heed_case heed_case;

const char *heed_case_op(const heed_case *test);
heed_graph *heed_case_graph(heed_case *test);

/* The tensor of this name as a graph input (written before the run) or as a constant. Missing:
 * value 0, and for the required forms a sentence in the case's error. Asking for one name twice
 * gives the same value. */
heed_value heed_case_input(heed_case *test, const char *name);
heed_value heed_case_optional_input(heed_case *test, const char *name);
heed_value heed_case_constant(heed_case *test, const char *name);
heed_value heed_case_optional_constant(heed_case *test, const char *name);

/* Attributes; the fallback when absent or null. A wrong type is kept as the case's error. */
double heed_case_number(heed_case *test, const char *name, double fallback);
int64_t heed_case_integer(heed_case *test, const char *name, int64_t fallback);
bool heed_case_flag(heed_case *test, const char *name, bool fallback);
/* Index of the attribute's text in a NULL-terminated list; `fallback` when absent. */
uint32_t heed_case_choice(heed_case *test, const char *name, const char *const *choices,
                          uint32_t fallback);
/* Two integers, "window": [left, right]; false when absent. */
bool heed_case_pair(heed_case *test, const char *name, int32_t pair[2]);
/* A list of whole numbers, "order": [0, 2, 1]: at most `capacity` of them into values; how many
 * there are. */
uint32_t heed_case_list(heed_case *test, const char *name, uint32_t *values, uint32_t capacity);
/* The same of any sign, one an axis. */
uint32_t heed_case_signed_list(heed_case *test, const char *name, int32_t values[HEED_MAX_RANK]);
/* Whether the attribute is there and not null. */
bool heed_case_has(const heed_case *test, const char *name);

/* This value is the result of this name: compared with expect.<name> if the file has it (then it
 * must be asked of every expect). */
void heed_case_result(heed_case *test, const char *name, heed_value value);

/* What heed check knows: each op (check/ops/<op>.c), and layers composed of ops, one a line of
 * check/layer_list.h (check/layers/<name>.c). */
typedef struct heed_bench_case heed_bench_case; /* check/bench.h */
typedef struct heed_layer_case {
  const char *const *names; /* NULL-terminated */
  heed_status (*from_case)(heed_case *test, heed_error *error);
  const heed_bench_case *bench; /* the op alone, to be timed; NULL: it is not */
} heed_layer_case;

#define HEED_OP(name) extern const heed_layer_case heed_case_##name;
#include "graph/op_list.h"
#undef HEED_OP
#define HEED_CASE(name) extern const heed_layer_case heed_case_##name;
#include "check/layer_list.h"
#undef HEED_CASE

#endif
