/* The reader of elementwise's case files. */

#include "check/case.h"
#include "heed/ops.h"

/* "" where the enum has no kind. */
static const char *const kinds[] = {
    [HEED_ELEMENTWISE_IDENTITY] = "identity",
    [HEED_ELEMENTWISE_NEGATE] = "negate",
    [HEED_ELEMENTWISE_ABSOLUTE] = "absolute",
    [HEED_ELEMENTWISE_RECIPROCAL] = "reciprocal",
    [HEED_ELEMENTWISE_SQUARE_ROOT] = "square_root",
    [HEED_ELEMENTWISE_EXP] = "exp",
    [HEED_ELEMENTWISE_LOG] = "log",
    [HEED_ELEMENTWISE_ERF] = "erf",
    [HEED_ELEMENTWISE_SIN] = "sin",
    [HEED_ELEMENTWISE_COS] = "cos",
    [HEED_ELEMENTWISE_SOFTPLUS] = "softplus",
    [HEED_ELEMENTWISE_FLOOR] = "floor",
    [HEED_ELEMENTWISE_CEIL] = "ceil",
    [HEED_ELEMENTWISE_ROUND] = "round",
    [HEED_ELEMENTWISE_SIGN] = "sign",
    [HEED_ELEMENTWISE_NOT] = "not",
    [HEED_ELEMENTWISE_IS_NAN] = "is_nan",
    [HEED_ELEMENTWISE_IS_INFINITE] = "is_infinite",
    [HEED_ELEMENTWISE_LEAKY_RELU] = "leaky_relu",
    [HEED_ELEMENTWISE_ELU] = "elu",
    [HEED_ELEMENTWISE_HARD_SIGMOID] = "hard_sigmoid",
    [HEED_ELEMENTWISE_CLIP] = "clip",
    [HEED_ELEMENTWISE_ADD] = "add",
    [HEED_ELEMENTWISE_SUBTRACT] = "subtract",
    [HEED_ELEMENTWISE_MULTIPLY] = "multiply",
    [HEED_ELEMENTWISE_DIVIDE] = "divide",
    [HEED_ELEMENTWISE_POWER] = "power",
    [HEED_ELEMENTWISE_MINIMUM] = "minimum",
    [HEED_ELEMENTWISE_MAXIMUM] = "maximum",
    [HEED_ELEMENTWISE_MODULUS] = "modulus",
    [HEED_ELEMENTWISE_REMAINDER] = "remainder",
    [HEED_ELEMENTWISE_EQUAL] = "equal",
    [HEED_ELEMENTWISE_LESS] = "less",
    [HEED_ELEMENTWISE_LESS_EQUAL] = "less_equal",
    [HEED_ELEMENTWISE_GREATER] = "greater",
    [HEED_ELEMENTWISE_GREATER_EQUAL] = "greater_equal",
    [HEED_ELEMENTWISE_AND] = "and",
    [HEED_ELEMENTWISE_OR] = "or",
    [HEED_ELEMENTWISE_XOR] = "xor",
    [HEED_ELEMENTWISE_SELECT] = "select",
    [HEED_ELEMENTWISE_SELECT + 1] = NULL,
};
static const char *const dtypes[] = {"F32", "U8", "I32", NULL};

/* The names without gaps, and the kind of each. */
static heed_elementwise choose_kind(heed_case *test) {
  const char *names[HEED_ELEMENTWISE_SELECT + 2];
  heed_elementwise kind[HEED_ELEMENTWISE_SELECT + 1];
  uint32_t count = 0;
  for (uint32_t i = 0; i <= HEED_ELEMENTWISE_SELECT; i++) {
    if (!kinds[i]) continue;
    names[count] = kinds[i];
    kind[count++] = (heed_elementwise)i;
  }
  names[count] = NULL;
  return kind[heed_case_choice(test, "kind", names, 0)];
}

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  static const heed_dtype dtype[] = {HEED_F32, HEED_U8, HEED_I32};
  heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                .a = heed_case_input(test, "a"),
                                .b = heed_case_optional_input(test, "b"),
                                .c = heed_case_optional_input(test, "c"),
                                .kind = choose_kind(test),
                                .dtype = dtype[heed_case_choice(test, "dtype", dtypes, 0)],
                                .alpha = (float)heed_case_number(test, "alpha", 0.0),
                                .beta = (float)heed_case_number(test, "beta", 0.0)};
  desc.shape.rank = heed_case_list(test, "shape", desc.shape.dim, HEED_MAX_RANK);
  heed_case_result(test, "y", heed_define_elementwise(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"elementwise", NULL};
const heed_layer_case heed_case_elementwise = {.names = names, .from_case = from_case};
