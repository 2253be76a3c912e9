/* The chapter of runs in heed.h: from a graph on a backend, by a plan, to results. */
#ifndef HEED_SESSION_H
#define HEED_SESSION_H

#include "heed/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------- backends */

typedef struct heed_backend heed_backend;

typedef struct heed_cpu_desc {
  size_t struct_size;
  /* 0: one per core that the process may use. On Linux, CPU affinity, cpusets and the CPU quotas of
   * control groups are respected (a quota of 1.5 CPUs: 2 threads); on Windows, affinity. Steps too
   * small to gain by several threads then have one. */
  uint32_t threads;
  /* NULL: the best of this machine; or "scalar", "sse2", "avx2", "avx512", "neon", "wasm128".
   * "avx2vnni", "avx512vnni" and "neondot" are avx2, avx512 and neon with dot products of bytes for
   * int8 weights. "avx512bf16" is avx512vnni on CPUs with AVX512_BF16, with the factors of linear
   * and patch_embedding rounded to bf16 (docs/quantisation.md); it is taken by name alone, and
   * heed_cpu_level does not list it. */
  const char *level;
} heed_cpu_desc;
#define HEED_CPU_DESC_INIT \
  { sizeof(heed_cpu_desc), 0, NULL }

/* The CPU backend (desc NULL: defaults). Results are bit-identical for any number of threads.
 * Borrows context, copies desc. Statuses: INVALID_ARGUMENT, UNSUPPORTED (level not built, or not on
 * this machine), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_cpu_backend_create(heed_context *context,
                                                            const heed_cpu_desc *desc,
                                                            heed_backend **backend,
                                                            heed_error *error);
HEED_API void heed_backend_destroy(heed_backend *backend);
/* "cpu", "vulkan"; and "AVX-512, 2 threads" or "AVX-512, 1 thread; CPU affinity allows 1 of 2
 * cores", valid as long as the backend. */
HEED_API const char *heed_backend_name(const heed_backend *backend);
HEED_API const char *heed_backend_device(const heed_backend *backend);
/* How many threads a run has on the CPU; 0 on a device. */
HEED_API uint32_t heed_backend_threads(const heed_backend *backend);

/* The i-th CPU level usable on this machine, best first; NULL after the last. */
HEED_API const char *heed_cpu_level(uint32_t index);

/* ----------------------------------------------------------------------------------------- plan */

typedef struct heed_plan heed_plan;

/* How attention stores its scores. Results are the same in every mode, up to rounding. Sparse norms
 * are always resident, and so is every attention on software Vulkan devices. */
typedef enum heed_attention_mode {
  HEED_ATTENTION_MODE_AUTO = 0,     /* the backend chooses by the sizes */
  HEED_ATTENTION_MODE_RESIDENT = 1, /* whole rows of scores in scratch */
  /* Tiles of keys, so that memory does not grow with Tq Tk. If weights or logits are wanted, a
   * first pass collects maximum and sum of every row, and a second one writes normalised tiles.
   * Otherwise one pass has a running maximum. */
  HEED_ATTENTION_MODE_STREAMED = 2
} heed_attention_mode;

typedef struct heed_plan_desc {
  size_t struct_size;
  const heed_value *taps; /* values to retain besides the outputs; copied */
  uint32_t tap_count;
  /* of every attention for whose sizes the backend has that mode */
  heed_attention_mode attention;
  /* EXPERIMENTAL: may change. A tap is kept to the end of its stage alone, so that its memory does
   * not grow with the layers. heed_session_run_part runs a stage; what it made can be read or
   * viewed until the next call. UNSUPPORTED on backends that run all at once. */
  bool passing_taps;
} heed_plan_desc;
#define HEED_PLAN_DESC_INIT \
  { sizeof(heed_plan_desc), NULL, 0, HEED_ATTENTION_MODE_AUTO, false }

/* In bytes, predicted before any allocation. */
typedef struct heed_memory {
  uint64_t weights;   /* constants as the backend stores them; also where they are shared */
  uint64_t arena;     /* inputs, intermediate values, outputs and taps, by lifetimes */
  uint64_t taps;      /* the part of the arena that taps alone need */
  uint64_t workspace; /* scratch of kernels, staging */
} heed_memory;

/* Order, lifetimes and memory layout of everything that the graph's outputs and the taps need. It
 * allocates no tensor. desc NULL: defaults. Borrows graph and backend. Statuses: INVALID_ARGUMENT
 * (also the graph's own first error), UNSUPPORTED, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_plan_create(heed_graph *graph, heed_backend *backend,
                                                     const heed_plan_desc *desc, heed_plan **plan,
                                                     heed_error *error);
HEED_API void heed_plan_destroy(heed_plan *plan);
HEED_API void heed_plan_memory(const heed_plan *plan, heed_memory *memory);

/* EXPERIMENTAL: fields may change. A kernel that a backend chose for a step. */
typedef struct heed_plan_kernel {
  const char *name, *tier; /* "linear_half", "half" */
  /* of a workgroup: rows and columns; or query rows and keys at a time; or rows and invocations per
   * row; or 0, 0 where elements have no order */
  uint32_t tile[2];
  uint32_t dispatches;
} heed_plan_kernel;
#define HEED_STEP_KERNELS 6

/* EXPERIMENTAL: fields may change. One step of a plan. Strings are valid as long as the plan. */
typedef struct heed_plan_step {
  const char *op;     /* "linear" */
  const char *output; /* name of the first output, or "" */
  uint32_t stage;
  heed_shape shape; /* of the first output */
  uint64_t flops;   /* operations; a multiply and an add are 2 */
  uint64_t bytes;   /* operands and results, each counted once */
  const char *mode; /* of an attention: "resident", "streamed", "streamed with weights"; else "" */
  uint64_t map_bytes;  /* of an attention: bytes of all its weights, retained or not; else 0 */
  uint32_t dispatches; /* kernels that the backend starts for it */
  uint32_t
      kernel_count; /* different ones among them, where the backend names them (Vulkan); else 0 */
  heed_plan_kernel kernel[HEED_STEP_KERNELS];
} heed_plan_step;
HEED_API uint32_t heed_plan_step_count(const heed_plan *plan);
HEED_API void heed_plan_step_info(const heed_plan *plan, uint32_t index, heed_plan_step *step);

/* -------------------------------------------------------------------------------------- session */

typedef struct heed_session heed_session;

/* Allocates, loads the model weights, and prepares pipelines. hooks may be NULL. Borrows plan.
 * Sessions of one context share the weights of a model, or of a graph, on the CPU: those that run
 * with the same level have them once, and the last one frees them.
 * Statuses: OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY (the sentence has the bytes of all that
 * heed_plan_memory counts), DEVICE_*, IO, INVALID_FILE, UNSUPPORTED, CANCELLED. */
HEED_NODISCARD HEED_API heed_status heed_session_create(heed_plan *plan, const heed_hooks *hooks,
                                                        heed_session **session, heed_error *error);
HEED_API void heed_session_destroy(heed_session *session);
/* The graph that the session runs, and the backend that it runs on. */
HEED_API const heed_graph *heed_session_graph(const heed_session *session);
HEED_API heed_backend *heed_session_backend(const heed_session *session);
/* Copies a whole input in; bytes must be its size. An input that was never written is zero.
 * Statuses: INVALID_ARGUMENT, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_session_write(heed_session *session, heed_value input,
                                                       const void *data, size_t bytes,
                                                       heed_error *error);
/* Runs the plan. Blocks until results are readable. Allocates nothing. hooks may be NULL. Statuses:
 * CANCELLED, DEVICE_LOST, DEVICE_FAILED. */
HEED_NODISCARD HEED_API heed_status heed_session_run(heed_session *session, const heed_hooks *hooks,
                                                     heed_error *error);
/* EXPERIMENTAL: may become a hook. Runs steps from *step (0 at first) to the end of the stage, and
 * advances *step. The run is done when *step is heed_plan_step_count. For single-threaded event
 * loops. Statuses: also UNSUPPORTED (a backend that runs all at once), INVALID_ARGUMENT (*step past
 * the end). */
HEED_NODISCARD HEED_API heed_status heed_session_run_part(heed_session *session, uint32_t *step,
                                                          heed_error *error);

/* EXPERIMENTAL: may change. The caller's clock: microseconds from any beginning. */
typedef struct heed_clock {
  double (*microseconds)(void *user);
  void *user;
} heed_clock;
typedef struct heed_step_time {
  uint32_t dispatches;
  double microseconds;
} heed_step_time;
/* EXPERIMENTAL: may change. One run in which each step ends before the next one begins, with the
 * time of each: times[heed_plan_step_count]. A device with a clock of its own uses that one.
 * Statuses: as heed_session_run, UNSUPPORTED (a device without timestamps), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_session_profile(heed_session *session,
                                                         const heed_clock *clock,
                                                         heed_step_time *times, heed_error *error);
/* Copies elements [first, first + count) of an output or tap out. Statuses: INVALID_ARGUMENT (not
 * retained by this plan), DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_session_read(heed_session *session, heed_value value,
                                                      uint64_t first, uint64_t count, void *to,
                                                      heed_error *error);
/* Pointer to an output or tap, without copying; valid until the next run or the end of the session.
 * Statuses: INVALID_ARGUMENT (not retained by this plan), UNSUPPORTED (the backend's memory cannot
 * be addressed). */
HEED_NODISCARD HEED_API heed_status heed_session_view(heed_session *session, heed_value value,
                                                      const void **data, heed_error *error);

/* EXPERIMENTAL: may change. Recomputes one row of attention weights and, if logits is not NULL, its
 * logits, each [Tk] floats, from the retained query and key. Use it when storing all maps costs too
 * much. `weights` is the attention's weights value. The plan must retain its query and key, and its
 * mask inputs, as taps or outputs. The general and additive scores are excluded: their projected
 * query and key have no name. causal_offsets are excluded too: heed_define_position_mask makes the
 * mask that has one. Semantics are those of the op, accumulated in double. Statuses:
 * INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_session_attention_row(heed_session *session,
                                                               heed_value weights, uint32_t batch,
                                                               uint32_t head, uint32_t query,
                                                               float *to, float *logits,
                                                               heed_error *error);

/* EXPERIMENTAL: may change. Several such rows: of one head, or of the mean over heads. */
typedef struct heed_attention_map_desc {
  size_t struct_size;
  uint32_t batch, head;
  bool head_mean;       /* instead of `head` */
  const uint32_t *rows; /* queries; NULL = all */
  uint32_t row_count;
} heed_attention_map_desc;
/* EXPERIMENTAL: may change. to [row_count or Tq, Tk]. As heed_session_attention_row, but reads the
 * keys of a head once. */
HEED_NODISCARD HEED_API heed_status heed_session_attention_map(heed_session *session,
                                                               heed_value weights,
                                                               const heed_attention_map_desc *desc,
                                                               float *to, heed_error *error);

/* ------------------------------------------------------------------------ stream, EXPERIMENTAL */

/* All of this chapter may change.
 *
 * A stream overlaps runs of one session: a device works on one item while the next is copied in and
 * the one before is copied out. Items complete in submission order, with results bit-identical to
 * separate runs, and each has an error of its own. Typical use:
 *   for (i = 0; i < n + in_flight; i++) {
 *     if (i >= in_flight) heed_stream_collect(stream, outputs of item i - in_flight, &error);
 *     if (i < n) heed_stream_submit(stream, inputs of item i, &error);
 *   }
 * A backend that cannot overlap runs (the CPU) runs an item while it is submitted. */
typedef struct heed_stream heed_stream;

typedef struct heed_stream_desc {
  size_t struct_size;
  /* most items submitted and not collected, 1 to 8; 0 = 2; each takes the bytes of its inputs and
   * outputs */
  uint32_t in_flight;
  /* passed with every item; other inputs retain what heed_session_write wrote */
  const heed_value *inputs;
  uint32_t input_count;
  const heed_value *outputs; /* outputs or taps */
  uint32_t output_count;
} heed_stream_desc;

/* Copies desc. Borrows session, which must not be written, run or read while items are in flight
 * (INVALID_ARGUMENT). Statuses: INVALID_ARGUMENT (not an input, not retained), OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_stream_create(heed_session *session,
                                                       const heed_stream_desc *desc,
                                                       heed_stream **stream, heed_error *error);
/* Waits for the items in flight and drops them. */
HEED_API void heed_stream_destroy(heed_stream *stream);
/* Starts the next item: inputs[input_count], each a whole input, copied. Allocates nothing. A
 * failed run is the item's error, which heed_stream_collect returns. Statuses: INVALID_ARGUMENT
 * (in_flight items wait to be collected, an input is missing). */
HEED_NODISCARD HEED_API heed_status heed_stream_submit(heed_stream *stream,
                                                       const void *const *inputs,
                                                       heed_error *error);
/* Waits for the oldest item and copies its outputs[output_count], each a whole value; NULL skips
 * one. Allocates nothing. Statuses: as heed_session_run for this item; INVALID_ARGUMENT when
 * nothing is in flight. */
HEED_NODISCARD HEED_API heed_status heed_stream_collect(heed_stream *stream, void *const *outputs,
                                                        heed_error *error);

#ifdef __cplusplus
}
#endif

#endif
