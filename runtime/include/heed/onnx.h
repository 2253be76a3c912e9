/* EXPERIMENTAL: all of this header may change. ONNX files (.onnx) for heed_model_open: a library of
 * its own beside the core (CMake heed::onnx). docs/onnx.md says what it reads and how it finds the
 * names of weights. */
#ifndef HEED_ONNX_H
#define HEED_ONNX_H

#include "heed/model.h"
#include "heed/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heed_onnx heed_onnx;

/* Whether a file begins as one of ONNX does. `count` bytes of its start are given; 16 are enough.
 */
HEED_API bool heed_onnx_begins(const void *bytes, size_t count);

/* Opens a file of weights that an ONNX file names, such as "model.onnx_data": `location` as it
 * stands in the file, which may be anything. Sets *source, valid until heed_onnx_destroy. */
typedef heed_status (*heed_onnx_external)(void *user, const char *location, heed_source *source,
                                          heed_error *error);

typedef struct heed_onnx_desc {
  size_t struct_size;
  heed_source source;          /* of the file; what it points to is borrowed */
  const char *name;            /* of the file, for sentences; copied */
  heed_onnx_external external; /* NULL: a file with external data is refused */
  void *user;
} heed_onnx_desc;

/* Reads the graph of an ONNX file, not its weights, and finds the name that each weight had where
 * the model was traced. Borrows context. Statuses: INVALID_ARGUMENT, INVALID_FILE, UNSUPPORTED,
 * OUT_OF_MEMORY, IO, what `external` returns. */
HEED_NODISCARD HEED_API heed_status heed_onnx_open(heed_context *context,
                                                   const heed_onnx_desc *desc, heed_onnx **file,
                                                   heed_error *error);
HEED_API void heed_onnx_destroy(heed_onnx *file);

/* The named weights as the bytes of a .safetensors file, made as they are read: the source of a
 * heed_model_file. Matrices of linear maps are turned to [out, in], and quantised weights are
 * dequantised to F32. A read may be made from several threads when the sources may. Valid as long
 * as the file. */
HEED_API heed_source heed_onnx_source(heed_onnx *file);

/* What the file is, in one line: "opset 17 by pytorch 1.13.1, 165 nodes; 8 of 200 weights
 * dequantised". Valid as long as the file. */
HEED_API const char *heed_onnx_summary(const heed_onnx *file);

/* The i-th attention of the graph, in the order of its nodes, by the name of its softmax or
 * attention node: "/encoder/layer.0/attention/Softmax"; NULL after the last. A softmax is an
 * attention where it reads a product of two computed values and its weights meet a third. Valid as
 * long as the file. */
HEED_API const char *heed_onnx_attention_name(const heed_onnx *file, uint32_t index);
/* The i-th op that heed_onnx_evaluate has not, each once, in the order of their first nodes; NULL
 * after the last. */
HEED_API const char *heed_onnx_missing_op(const heed_onnx *file, uint32_t index);
/* Whether each node, as it stands, is one that heed_onnx_evaluate has: its op in this version of
 * its operator set, the number of its inputs and outputs, its attributes. Statuses: UNSUPPORTED,
 * INVALID_FILE. */
HEED_NODISCARD HEED_API heed_status heed_onnx_check(const heed_onnx *file, heed_error *error);

/* A value that the graph takes or gives. */
typedef struct heed_onnx_port {
  const char *name;
  const char *dtype; /* as .safetensors has it: "F32", "I64"; NULL: a type that it has not */
  bool shaped;       /* whether the file says how many axes there are */
  uint32_t rank;
  int64_t dim[8]; /* -1: left open */
} heed_onnx_port;
/* The index-th input, those left out that the file has a weight for, and the index-th output; false
 * after the last. Names are valid as long as the file. */
HEED_API bool heed_onnx_takes(const heed_onnx *file, uint32_t index, heed_onnx_port *port);
HEED_API bool heed_onnx_gives(const heed_onnx *file, uint32_t index, heed_onnx_port *port);

/* Runs the graph with all its inputs. Without a backend it runs as it is, node after node: sums are
 * made in double, and every value is rounded to its type. With one it is lowered to heed's own ops
 * and runs on their kernels, in F32: what depends on shapes, constants and whole numbers is
 * computed beforehand, attentions become one op, and quantised weights are dequantised. Activations
 * are rounded as the file says, but for those that heed_onnx_result_unrounded counts. */
typedef struct heed_onnx_evaluate_desc {
  size_t struct_size;
  /* a .safetensors file with a tensor for each input, by its name in the graph, of its type */
  heed_source inputs;
  const char *name; /* of that file, for sentences; or NULL */
  bool attentions;  /* whether the weights of the attentions are results too: "attention.0" ... */
  /* in double of all values that are alive together, 2^30 at most, and on kernels of all values; 0:
   * what takes 32 MiB, 32 times the file and 4096 times the inputs */
  uint64_t most_elements;
  const heed_hooks *hooks; /* cancel alone is called; or NULL */
  /* elements and multiply-adds of the run. 0: on kernels 2^42, and 2^28, 16 times the file and 4096
   * times the inputs of what is folded before; in double 2^32 and a 16th of the bytes of the file
   * times those of the inputs. More is UNSUPPORTED */
  uint64_t most_steps;
  heed_backend *backend; /* borrowed for the call; NULL: in double */
  /* EXPERIMENTAL. With a backend: nodes that have no kernel run in double, and only those. At most
   * 64 of them, in a graph without branches; else the graph is UNSUPPORTED as it is without this */
  bool parts;
  const heed_clock *clock; /* for the times of heed_onnx_result_parts; or NULL */
} heed_onnx_evaluate_desc;
typedef struct heed_onnx_result heed_onnx_result;
/* Statuses: INVALID_ARGUMENT, INVALID_FILE (an input or node that does not fit), UNSUPPORTED (an
 * op; with a backend also what has no kernel), OUT_OF_MEMORY, CANCELLED, those of the sources and
 * of the backend. */
HEED_NODISCARD HEED_API heed_status heed_onnx_evaluate(heed_onnx *file,
                                                       const heed_onnx_evaluate_desc *desc,
                                                       heed_onnx_result **result,
                                                       heed_error *error);
/* The same without a backend, whatever desc says: for programs that need no kernels. */
HEED_NODISCARD HEED_API heed_status heed_onnx_reference(heed_onnx *file,
                                                        const heed_onnx_evaluate_desc *desc,
                                                        heed_onnx_result **result,
                                                        heed_error *error);
/* The outputs by their names, as the bytes of a .safetensors file. Valid as long as the result,
 * which may outlive the file. */
HEED_API heed_source heed_onnx_result_source(heed_onnx_result *result);
/* How many activations the file rounds to 8 bits which the kernels took as they are: those of
 * DynamicQuantizeLinear whose scale only multiplies their products again. 0 without a backend. */
HEED_API uint32_t heed_onnx_result_unrounded(const heed_onnx_result *result);
/* EXPERIMENTAL. Which nodes ran in double beside kernels, in one line: "2 of 40 nodes in double
 * (TopK, CumSum), 0.5 of 3.2 ms"; "" for none. Valid as long as the result. */
HEED_API const char *heed_onnx_result_parts(const heed_onnx_result *result);
HEED_API void heed_onnx_result_destroy(heed_onnx_result *result);
/* How a graph ran, in one line: "run as an ONNX graph on heed's kernels (SUMMARY), 3 activations
 * not rounded to 8 bits", and where why is not "" then "; WHY"; without kernels "run as an ONNX
 * graph, in double (SUMMARY), not on kernels: WHY", or without a reason where why is "". Cut to
 * `size` bytes. */
HEED_API void heed_onnx_way(const heed_onnx *file, bool kernels, uint32_t unrounded,
                            const char *why, char *text, size_t size);

/* The graph on heed's own ops, for inputs of one size. */
typedef struct heed_onnx_lower_desc {
  size_t struct_size;
  /* A .safetensors file with a tensor for each input, as of heed_onnx_evaluate_desc: whole numbers
   * are taken from it, of floats the shapes. Size 0: inputs of the sizes that follow, with all
   * whole numbers 1. */
  heed_source inputs;
  const char *name; /* of that file, for sentences; or NULL */
  /* Sizes that the file leaves open: the first axis of each input; the last two of an input of four
   * axes, whose second is 3, or the two before its last, where that is 3; all others. 0: 1, 224,
   * 224, 16 */
  uint32_t batch, height, width, length;
  uint64_t most_elements; /* as of heed_onnx_evaluate_desc */
  uint64_t most_steps;    /* the same, of what is folded. More is UNSUPPORTED */
  /* Whether an input of four axes, of which one is the 3 of colours, is a picture that a run gives:
   * an input [B, 3, H, W] of floats in the graph, also where the file takes [B, H, W, 3] or whole
   * numbers, which are floats then. */
  bool picture;
  /* EXPERIMENTAL. Whether nodes without a kernel are nodes of the graph that run in double, on the
   * CPU alone: at most 64, whose shapes do not depend on numbers. A run ends with UNSUPPORTED where
   * one gives whole numbers beyond 2^24. Else such a node is UNSUPPORTED here. */
  bool parts;
} heed_onnx_lower_desc;
typedef struct heed_onnx_lowered heed_onnx_lowered;
/* Lowers the graph. Borrows file, also for the weights that a session reads. Inputs of floats and
 * outputs have their names of the file; the attention that heed_onnx_attention_name numbers i has
 * layer.i.attention.weights, .logits and .output, and layer.i.query, .key, .value, where it became
 * one op. Statuses: INVALID_ARGUMENT, INVALID_FILE, UNSUPPORTED (what has no kernel),
 * OUT_OF_MEMORY, those of the sources. */
HEED_NODISCARD HEED_API heed_status heed_onnx_lower(heed_onnx *file,
                                                    const heed_onnx_lower_desc *desc,
                                                    heed_onnx_lowered **lowered, heed_error *error);
HEED_API void heed_onnx_lowered_destroy(heed_onnx_lowered *lowered);
/* The graph. Valid as long as `lowered`, which owns it. */
HEED_API heed_graph *heed_onnx_lowered_graph(heed_onnx_lowered *lowered);
/* The weights of the i-th attention, [B, H, Tq, Tk], or of more axes as its softmax has them; 0:
 * the graph has none. */
HEED_API heed_value heed_onnx_lowered_weights(const heed_onnx_lowered *lowered, uint32_t index);
/* Calls give for each input of the graph that was made of whole numbers, such as the rows of a
 * table that token ids name: F32, of the input's shape, valid for the call. Statuses:
 * OUT_OF_MEMORY, what give returns, which ends it. */
typedef heed_status (*heed_onnx_given)(void *user, heed_value input, const float *data,
                                       size_t bytes, heed_error *error);
HEED_NODISCARD HEED_API heed_status heed_onnx_lowered_given(const heed_onnx_lowered *lowered,
                                                            heed_onnx_given give, void *user,
                                                            heed_error *error);
/* Writes them; a session needs it once. Statuses: as heed_session_write, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_onnx_lowered_write(const heed_onnx_lowered *lowered,
                                                            heed_session *session,
                                                            heed_error *error);
/* The value of the output that heed_onnx_gives numbers index, where a run computes it. 0: it is
 * known beforehand, or there is none. Statuses: UNSUPPORTED (computed whole numbers). */
HEED_NODISCARD HEED_API heed_status heed_onnx_lowered_output(heed_onnx_lowered *lowered,
                                                             uint32_t index, heed_value *value,
                                                             heed_error *error);
/* The outputs that are known beforehand, by their names. Statuses: UNSUPPORTED (a type that
 * .safetensors has not), OUT_OF_MEMORY, those of the sources. */
HEED_NODISCARD HEED_API heed_status heed_onnx_lowered_known(heed_onnx_lowered *lowered,
                                                            heed_onnx_result **result,
                                                            heed_error *error);
/* EXPERIMENTAL. Which nodes run in double, "2 of 40 nodes in double (TopK, CumSum)", cut to `size`
 * bytes; "": none. */
HEED_API void heed_onnx_lowered_in_double(const heed_onnx_lowered *lowered, char *text,
                                          size_t size);
/* EXPERIMENTAL. What the i-th attention is over, where the graph says it of one image: "56 x 56
 * patches in 64 windows", "1 token and 14 x 14 patches", "over channels"; "": it does not. Cut to
 * `size` bytes, at least 1. */
HEED_API void heed_onnx_lowered_reach(heed_onnx_lowered *lowered, uint32_t index, char *text,
                                      size_t size);
/* As heed_onnx_result_unrounded of a run. */
HEED_API uint32_t heed_onnx_lowered_unrounded(const heed_onnx_lowered *lowered);
/* The graph as a model, where it is a vision transformer: one image [B, C, H, W] comes in, and each
 * layer attends to all of its patches, or to windows or merged keys whose places are known; of such
 * a layer the weights are a map of all patches, and it takes no changes. For files of which no
 * config.json names a family. `desc`: the files beside the ONNX file, of which config.json gives
 * labels and the size of images, and those that heed_model_open reads the preprocessing; without
 * one that of ViT is assumed, which heed_model_info.assumed says. height, width: of the images,
 * where the file leaves them open; both 0: what config.json says, else 224, else as many as the
 * graph's positions are for. Patch, grid, heads and classes are the graph's. heed_model_build
 * ignores classes_only. Borrows file, which must outlive the model and its graphs. Statuses:
 * UNSUPPORTED (another graph, or what has no kernel), INVALID_ARGUMENT, INVALID_FILE,
 * OUT_OF_MEMORY, those of the sources. */
HEED_NODISCARD HEED_API heed_status heed_onnx_vision(heed_onnx *file, const heed_model_desc *desc,
                                                     uint32_t height, uint32_t width,
                                                     heed_model **model, heed_error *error);

/* The ways in which an ONNX file runs. */
typedef enum heed_onnx_run_way {
  HEED_ONNX_EITHER = 0,
  HEED_ONNX_WEIGHTS = 1, /* its weights in heed's own graph: heed_model_open */
  HEED_ONNX_GRAPH = 2    /* the graph that it is: heed_onnx_vision, heed_onnx_lower */
} heed_onnx_run_way;
typedef struct heed_onnx_model_desc {
  size_t struct_size;
  const heed_model_desc *files; /* of heed_model_open, with the file's weights among them */
  heed_onnx_run_way way;
  uint32_t height, width; /* as of heed_onnx_vision */
} heed_onnx_model_desc;
/* THE answer to the question which way a file runs as a model: EITHER is weights where config.json
 * is among the files, else the graph; and the other one where the first lacks something
 * (heed_onnx_lacks). If both do, the error is that of the first. *way (NULL: not wanted) is the way
 * that was taken. Borrows file and what files point to. Statuses: those of heed_model_open and
 * heed_onnx_vision. */
HEED_NODISCARD HEED_API heed_status heed_onnx_open_model(heed_context *context, heed_onnx *file,
                                                         const heed_onnx_model_desc *desc,
                                                         heed_model **model, heed_onnx_run_way *way,
                                                         heed_error *error);
/* The same for a graph of any kind: WEIGHTS where config.json and heed_model_open take them, else
 * GRAPH. Statuses: those of heed_model_open that heed_onnx_lacks does not name. */
HEED_NODISCARD HEED_API heed_status heed_onnx_choose_way(heed_context *context,
                                                         const heed_model_desc *files,
                                                         heed_onnx_run_way *way, heed_error *error);
/* Whether a status is about what the file holds, so that the other way may serve: not what the
 * machine lacked. */
HEED_API bool heed_onnx_lacks(heed_status status);

/* Whether each class of a model of heed_onnx_vision stands by itself, as the graph ends with a
 * sigmoid: its probability is the sigmoid of its logit. The value "logits" of a graph that ends
 * with a softmax, its logarithm or a sigmoid is what that reads. false for other models. */
HEED_API bool heed_onnx_each_class(const heed_model *model);
/* EXPERIMENTAL. As heed_onnx_lowered_in_double of a model of heed_onnx_vision at its own size; ""
 * for other models. Valid as long as the model. */
HEED_API const char *heed_onnx_in_double(const heed_model *model);
/* Which token of the ONNX file each token of a graph is that heed_model_build made of a model of
 * heed_onnx_vision: [*count], borrowed from the graph. NULL, and 0: the order is the file's own. */
HEED_API const int32_t *heed_onnx_token_order(const heed_graph *graph, uint32_t *count);
/* What became of the nodes of one type: folded beforehand, or part of heed's ops. */
typedef struct heed_onnx_op_count {
  const char *op;
  uint32_t folded, lowered;
} heed_onnx_op_count;
/* The index-th type of node, in the order of the file; false after the last. */
HEED_API bool heed_onnx_lowered_count(const heed_onnx_lowered *lowered, uint32_t index,
                                      heed_onnx_op_count *count);

#ifdef __cplusplus
}
#endif

#endif
