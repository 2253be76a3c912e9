/* EXPERIMENTAL: all of this header may change. heed's checks: one op or layer runs on the tensors
 * of a case file, and its results are compared with those in the file. A library of its own beside
 * the core (CMake heed::check, pkg-config heed-check).
 *
 * A case file is a safetensors file. Its metadata has `op`, the name of the op or layer, and
 * `attrs`, its attributes as a JSON object. Its tensors are the inputs by name, and expect.<name>
 * for each expected result. It may also have `tolerance`, a number, or `atol` and `rtol` apart. */
#ifndef HEED_CHECK_H
#define HEED_CHECK_H

#include "heed/ops.h"
#include "heed/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heed_check_result {
  char op[48];
  bool passed;
  double max_abs, max_rel; /* worst over all expected tensors */
  char worst[64];          /* the tensor it was in */
  heed_shape shape;        /* of that tensor */
} heed_check_result;

/* Receives a result tensor of a check: F32 or U8, dense, valid during the call. A status other than
 * OK ends the check. */
typedef heed_status (*heed_check_take)(void *user, const char *name, heed_dtype dtype,
                                       const heed_shape *shape, const void *data,
                                       heed_error *error);

/* Runs the op named in a case file's metadata on its tensors on `backend`, and compares the results
 * with its expect.* tensors: |a - b| <= tolerance + tolerance |b|, NaN equal to NaN. An expectation
 * in F16 or BF16 is compared after rounding to it, or with a number that rounds to it. tolerance 0
 * means the case's own, and where it has none 2e-5 on the CPU and 1e-4 elsewhere. An unknown op or
 * attribute is an error. A mismatch is none: result->passed is false. take (nullable) receives each
 * result. Borrows bytes for the call. Statuses: INVALID_ARGUMENT, INVALID_FILE, UNSUPPORTED,
 * OUT_OF_MEMORY, those of take and of a session. */
HEED_NODISCARD HEED_API heed_status heed_check_case(heed_context *context, heed_backend *backend,
                                                    const void *bytes, size_t size,
                                                    double tolerance, heed_check_take take,
                                                    void *take_user, heed_check_result *result,
                                                    heed_error *error);

/* ---- EXPERIMENTAL: profiles: what a standard says about attention, case by case */

#define HEED_PROFILE_LINES 20

/* One question of the semantics table of docs/attention.md. The texts are valid forever. */
typedef struct heed_profile_line {
  const char *question;
  const char *answer; /* the standard's, with the fields of heed_attention_desc that mean it */
  const char *reason; /* why heed differs where it does on purpose; NULL: it does not */
  /* that ask it; of these that come out as the standard has them, and as heed states */
  uint32_t cases, passed, stated;
} heed_profile_line;

typedef struct heed_profile_result {
  const char *profile, *standard;
  uint32_t pairs; /* of choices that can stand together; each is in some case */
  /* The rest of the cases are wrong. */
  uint32_t cases, passed, stated;
  heed_profile_line lines[HEED_PROFILE_LINES];
  uint32_t line_count;
} heed_profile_result;

/* Receives a sentence for each case that is wrong: which, and the first element that differs. */
typedef void (*heed_profile_take)(void *user, const char *sentence);

/* The profiles by index from 0: onnx, torch, keras; NULL past the last. */
HEED_API const char *heed_profile_name(uint32_t index);
/* Makes the cases of a profile, the same on every call, runs each on `backend` in every mode that
 * attention has there, and compares with a reference in double precision: |a - b| <= tolerance +
 * tolerance |b| after rounding to the case's precision, where one step of it is allowed. tolerance
 * 0 means 2e-5 on the CPU and 1e-4 elsewhere. A case that is wrong is no error. take may be NULL.
 * Statuses: INVALID_ARGUMENT (no such profile), OUT_OF_MEMORY, those of a session. */
HEED_NODISCARD HEED_API heed_status heed_check_profile(heed_context *context, heed_backend *backend,
                                                       const char *profile, double tolerance,
                                                       heed_profile_take take, void *take_user,
                                                       heed_profile_result *result,
                                                       heed_error *error);
/* The result as a JSON object, cut at size; returns its length without the final 0, also when it
 * does not fit. backend: what is said to have run. */
HEED_API size_t heed_profile_json(const heed_profile_result *result, const char *backend, char *to,
                                  size_t size);

/* ---- EXPERIMENTAL: ops alone, to be timed */

/* What an op takes beside its shape; heed_bench_op.options is a sum of these. */
typedef enum heed_bench_option {
  HEED_BENCH_TOKENS = 1, /* axes 2 and 3 of the shape count tokens */
  HEED_BENCH_CAUSAL = 2,
  HEED_BENCH_WINDOW = 4,
  HEED_BENCH_WEIGHTS = 8,
  HEED_BENCH_MODE = 16 /* heed_plan_desc.attention means something to it */
} heed_bench_option;

#define HEED_BENCH_MOST_AXES 5

/* An op that can be timed. */
typedef struct heed_bench_op {
  const char *name;
  const char *axes;    /* names of the shape's numbers: "M,K,N" */
  const char *shape;   /* taken where none is given; NULL: one must be */
  uint32_t axis_count; /* at most HEED_BENCH_MOST_AXES */
  uint32_t options;
} heed_bench_op;

typedef struct heed_bench_shape {
  uint32_t axis[HEED_BENCH_MOST_AXES];
  heed_causal causal;
  uint32_t window; /* keys to each side; 0: all */
  bool weights;    /* they are an output too */
} heed_bench_shape;

/* The ops that can be timed, in alphabetical order, by index from 0; NULL past the last. */
HEED_API const heed_bench_op *heed_bench_get_op(uint32_t index);
/* Defines the op with inputs of this shape in an empty graph and marks what it computes as outputs.
 * op: one of heed_bench_get_op. Statuses: those of the op's define function. */
HEED_NODISCARD HEED_API heed_status heed_bench_define(heed_graph *graph, const heed_bench_op *op,
                                                      const heed_bench_shape *shape,
                                                      heed_error *error);

#ifdef __cplusplus
}
#endif
#endif
