/* The WebAssembly face of heed.h: what JavaScript calls, and what it must bring along. heed.wasm
 * has the calls of the first part, heed-all.wasm those of both.
 *
 * Calls return a heed_status; the sentence of the last failure is heed_web_message. Results that
 * are numbers lie at heed_web_result as a record of record_list.h, which the comments below name;
 * results that are arrays are blocks of their own that heed_web_free takes back. Strings are UTF-8
 * and end in NUL; lists of strings are such strings one after another. Every object belongs to one
 * runtime and so to one thread. */
#ifndef HEED_WEB_WASM_SHIM_H
#define HEED_WEB_WASM_SHIM_H

#include "heed/check.h"
#include "heed/heed.h"
#if defined(HEED_WEB_THREADS)
#include "base/thread_pool_wasm.h"
#endif
#include "records.h"

#define HEED_WEB_EXPORT(name) __attribute__((export_name(#name)))
#define HEED_WEB_IMPORT(name) __attribute__((import_module("heed"), import_name(#name)))

typedef struct heed_web {
  heed_context *context;
  heed_backend *backend;
  size_t used; /* bytes of living blocks */
  bool defers; /* heed-gpu.wasm with its device: results are there when the host has them */
  heed_error error;
  heed_web_out out;
  heed_check_result check; /* the last one */
} heed_web;

typedef struct heed_web_scene heed_web_scene;
typedef struct heed_tokenizer heed_tokenizer; /* heed/tokenizer.h */
typedef struct heed_web_onnx heed_web_onnx;   /* onnx.h */
typedef struct heed_web_model heed_web_model;
typedef struct heed_web_session heed_web_session;

/* A file of another container that is read as a .safetensors file. */
typedef struct heed_web_reader {
  heed_source source;
  void (*close)(const heed_web *web, struct heed_web_reader *reader);
} heed_web_reader;

/* What is opened as a model: heed's own graph of it (model.c), or the graph of an ONNX file
 * (graph.c). */
typedef struct heed_web_model_type {
  void (*close)(const heed_web *web, heed_web_model *model);
  const char *(*info)(heed_web *web, const heed_web_model *model);
  const char *(*label)(const heed_web_model *model, uint32_t index);
  const char *(*token)(const heed_web_model *model, uint32_t index);
  size_t (*describe)(const heed_web_model *model, char *text, size_t size); /* heed_describe */
  /* Sets what the session takes from the desc, its graph, input and place. */
  heed_status (*build)(heed_web_session *session, const heed_build_desc *desc);
  /* Writes the inputs that JavaScript need not write. */
  heed_status (*begin)(heed_web_session *session);
  /* Sets how the session's pictures are prepared. */
  heed_status (*preprocess)(heed_web_session *session);
} heed_web_model_type;

struct heed_web_model {
  const heed_web_model_type *type;
  heed_model *model; /* of model.c alone */
  heed_model_file *files;
  uint32_t file_count;
  char *names;
  heed_explainer *explainer; /* what explain keeps for its next call, or NULL */
};

struct heed_web_session {
  heed_web *web;
  const heed_web_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value input; /* 0: no pixel_values; inputs are written by name */
  float *pixels;    /* pixel_values on their way in */
  void *copy;       /* of the value that was viewed last, where the backend has no view */
  size_t pixel_bytes;
  uint32_t batch, height, width, tokens;
  uint32_t layers, heads, pool_heads;
  heed_layer_info place;   /* of the tokens; patch 0: they lie in no grid */
  heed_layer_info *places; /* of each layer; NULL: all are as place */
  uint32_t frames;         /* of pixel_values; 0: it is one picture */
  heed_preprocess preprocess;
  bool sized;                     /* height or width were given: pictures are prepared for them */
  heed_preprocess_options change; /* session_prepare; struct_size 0: none */
  float mean[HEED_MOST_CHANNELS], std[HEED_MOST_CHANNELS];
  char resample[16];
  struct heed_onnx_lowered *lowered; /* graph.c: what the graph owns */
};

/* Copies bytes [offset, offset + count) of the source to `to`; 0 = done. */
HEED_WEB_IMPORT(read) int heed_host_read(uint32_t source, double offset, void *to, size_t count);
/* host_source.c: the file of a number, by heed_host_read. */
heed_source heed_web_host_source(uint32_t source, double size);
/* maps.c: T of a layer. */
uint32_t heed_web_layer_tokens(const heed_layer_info *layer);
/* A model of `size` bytes with its list of files, which heed_web_model_close frees; NULL with an
 * error when there is no memory. As heed_web_model_open. */
heed_web_model *heed_web_model_make(heed_web *web, size_t size, const char *names,
                                    size_t names_size, const double *sizes, const uint32_t *sources,
                                    heed_web_reader *const *readers, uint32_t count);
/* Bytes of the weights that have been read. */
HEED_WEB_IMPORT(progress) void heed_host_progress(double done, double total);
/* Runs of a patching that are done. */
HEED_WEB_IMPORT(patched) void heed_host_patched(double done, double total);
/* Not 0 = stop. */
HEED_WEB_IMPORT(cancelled) int heed_host_cancelled(void);
/* A result of a check or of heed_explain: name, dtype, rank, dim[rank], data. */
HEED_WEB_IMPORT(take)
void heed_host_take(const char *name, heed_dtype dtype, uint32_t rank, const uint32_t *dim,
                    const void *data);

/* ------------------------------------------------------------------------------------- heed.wasm
 */

/* runtime.c */
/* The runtime; its status tells whether it can be used: NULL only when there is no memory for it.
 */
HEED_WEB_EXPORT(create) heed_web *heed_web_create(uint32_t threads);
HEED_WEB_EXPORT(destroy) void heed_web_destroy(heed_web *web);
HEED_WEB_EXPORT(version) const char *heed_web_version(void);
HEED_WEB_EXPORT(device) const char *heed_web_device(const heed_web *web);
HEED_WEB_EXPORT(status) heed_status heed_web_status(const heed_web *web);
HEED_WEB_EXPORT(message) const char *heed_web_message(const heed_web *web);
HEED_WEB_EXPORT(status_name) const char *heed_web_status_name(heed_status status);
HEED_WEB_EXPORT(out) const heed_web_out *heed_web_result(const heed_web *web);
/* record_list.h as text. */
HEED_WEB_EXPORT(records) const char *heed_web_records(void);
HEED_WEB_EXPORT(used) size_t heed_web_used(const heed_web *web);
/* A block for JavaScript to fill; NULL with an error when there is no memory. */
HEED_WEB_EXPORT(alloc) void *heed_web_alloc(heed_web *web, size_t bytes);
HEED_WEB_EXPORT(free) void heed_web_free(const heed_web *web, void *block);

/* model.c */
HEED_WEB_EXPORT(model_close) void heed_web_model_close(const heed_web *web, heed_web_model *model);
/* names: `count` strings one after another; sizes in bytes; sources: the numbers by which reads
 * ask; readers: where not NULL, what reads the file instead, to be closed after the model. text:
 * whether it is the text tower that is opened. out: opened. */
HEED_WEB_EXPORT(model_open)
heed_status heed_web_model_open(heed_web *web, const char *names, size_t names_size,
                                const double *sizes, const uint32_t *sources,
                                heed_web_reader *const *readers, uint32_t count, uint32_t text);
/* out: model. Returns the family. */
HEED_WEB_EXPORT(model_info)
const char *heed_web_model_info(heed_web *web, const heed_web_model *model);
/* Of a text tower. out: text. */
HEED_WEB_EXPORT(model_text) void heed_web_model_text(heed_web *web, const heed_web_model *model);
/* heed_model_describe. out: block, its bytes without the NUL. */
HEED_WEB_EXPORT(model_describe)
heed_status heed_web_model_describe(heed_web *web, const heed_web_model *model);
HEED_WEB_EXPORT(model_label)
const char *heed_web_model_label(const heed_web_model *model, uint32_t index);

/* token_names of heed_model_info. */
HEED_WEB_EXPORT(model_token)
const char *heed_web_model_token(const heed_web_model *model, uint32_t index);

/* The number of tensors. Of the one at the index, where there is one, out: tensor. */
HEED_WEB_EXPORT(model_tensor)
uint32_t heed_web_model_tensor(heed_web *web, const heed_web_model *model, uint32_t index);
/* heed_model_absent */
HEED_WEB_EXPORT(model_absent)
const char *heed_web_model_absent(const heed_web_model *model, uint32_t index);

/* session.c */
HEED_WEB_EXPORT(session_close) void heed_web_session_close(heed_web_session *session);
/* batch, height, width, frames of a video: 0 = the model's; of a text tower width is the tokens of
 * a text, and its ids are written by session_set. keep: what it keeps, as the record keep; names:
 * `count` of them for `named`. intervene: as that record, with temperature as in heed_build_desc;
 * nothing is changed at first. out: session. */
HEED_WEB_EXPORT(session_create)
heed_status heed_web_session_create(heed_web *web, const heed_web_model *model, uint32_t batch,
                                    uint32_t height, uint32_t width, int keep, const char *names,
                                    uint32_t count, uint32_t intervene, double temperature,
                                    uint32_t frames);
/* Where the tokens of a layer lie, which the session has. out: layer. */
HEED_WEB_EXPORT(session_layer)
void heed_web_session_layer(heed_web_session *s, uint32_t layer);
/* out: memory. */
HEED_WEB_EXPORT(session_memory) void heed_web_session_memory(heed_web_session *s);
/* Writes the whole input of this name. */
HEED_WEB_EXPORT(session_set)
heed_status heed_web_session_set(heed_web_session *s, const char *name, const void *data,
                                 size_t bytes);
/* picture.c: a decoded picture -> its place in a session's pixel_values, prepared by
 * heed_model_preprocess_at where the session was given a size; whole: all of it, by
 * heed_preprocess_fit_whole; frame: which one it is of the batch's images, of videos of all their
 * frames. out: region. */
HEED_WEB_EXPORT(session_picture)
heed_status heed_web_session_picture(heed_web_session *s, const uint8_t *pixels, uint32_t width,
                                     uint32_t height, uint32_t channels, uint32_t whole,
                                     uint32_t frame);
/* What replaces parts of that preparation from now on, as in heed_preprocess_options, checked
 * against the model's. resample "", crop 0 and rescale 0: as they are; crop below 0: squash. */
HEED_WEB_EXPORT(session_prepare)
heed_status heed_web_session_prepare(heed_web_session *s, const float *mean, uint32_t mean_count,
                                     const float *std, uint32_t std_count, const char *resample,
                                     double crop, double rescale);
/* Hands the pixel_values to the program, where there are any. */
HEED_WEB_EXPORT(session_write) heed_status heed_web_session_write(heed_web_session *s);
/* Runs from `step` to the end of its layer. Asks the host whether to stop first. out: step. */
HEED_WEB_EXPORT(session_run_part)
heed_status heed_web_session_run_part(heed_web_session *s, uint32_t step);
/* The value of this name where it lies. out: value. */
HEED_WEB_EXPORT(session_view)
heed_status heed_web_session_view(heed_web_session *s, const char *name);

/* maps.c */
/* head < 0: the mean over heads; query < 0: all rows. out: block, of floats. */
HEED_WEB_EXPORT(session_attention)
heed_status heed_web_session_attention(heed_web_session *s, uint32_t batch, uint32_t layer,
                                       int head, int query);
/* One layer of the rollout, from the last back: rows [count, T] become rows times its matrix, by
 * heed_map_rollout_back where its maps were kept, otherwise from queries and keys. first_layer,
 * layer_count: of the whole rollout, which is checked. fusion: as that record. */
HEED_WEB_EXPORT(session_rollout_back)
heed_status heed_web_session_rollout_back(heed_web_session *s, uint32_t batch, heed_fusion fusion,
                                          double residual, uint32_t first_layer,
                                          uint32_t layer_count, double discard, uint32_t layer,
                                          double *rows, uint32_t count);

/* explain.c: definitions over plain arrays, for who calls them at once. Arrays are the caller's;
 * sizes are not looked at. Functions that fill an array take arrays first, then numbers, then what
 * they fill. */
/* 256 colours of the map with this name. */
HEED_WEB_EXPORT(colormap) void heed_web_colormap(const char *name, uint8_t *rgb);
HEED_WEB_EXPORT(map_mean)
void heed_web_map_mean(const float *weights, uint32_t heads, size_t count, float *mean);
HEED_WEB_EXPORT(map_entropy) double heed_web_map_entropy(const float *row, uint32_t n);
HEED_WEB_EXPORT(map_mass_mask)
void heed_web_map_mass_mask(const float *weights, uint32_t *order, uint32_t n, double share,
                            uint8_t *mask);
HEED_WEB_EXPORT(map_divergence)
double heed_web_map_divergence(const float *a, const float *b, uint32_t n);
HEED_WEB_EXPORT(map_distances)
void heed_web_map_distances(const float *maps, uint32_t heads, uint32_t queries, uint32_t tokens,
                            uint32_t stride, double *distances);
/* Those of all heads nearer than the limit, as heed_map_groups numbers them. */
HEED_WEB_EXPORT(map_groups)
heed_status heed_web_map_groups(heed_web *web, const double *distances, uint32_t count,
                                double limit, uint32_t *group);
HEED_WEB_EXPORT(map_share)
double heed_web_map_share(const float *row, const uint8_t *region, uint32_t n);
HEED_WEB_EXPORT(map_mean_share)
double heed_web_map_mean_share(const float *attention, const uint8_t *region, uint32_t tokens,
                               uint32_t prefix);
HEED_WEB_EXPORT(map_rank_correlation)
heed_status heed_web_map_rank_correlation(heed_web *web, const float *a, const float *b, uint32_t n,
                                          double *rho);
/* out: statistics. */
HEED_WEB_EXPORT(map_statistics)
void heed_web_map_statistics(heed_web *web, const float *attention, uint32_t prefix, uint32_t rows,
                             uint32_t columns, double patch);
/* heed_map_rollout of all maps [layers, heads, tokens, tokens]; fusion: as that record. */
HEED_WEB_EXPORT(map_rollout)
heed_status heed_web_map_rollout(heed_web *web, const float *all, uint32_t layers, uint32_t heads,
                                 uint32_t tokens, heed_fusion fusion, double residual,
                                 uint32_t first_layer, uint32_t layer_count, double discard,
                                 float *rollout);
/* heed_map_rollout_back */
HEED_WEB_EXPORT(map_rollout_back)
heed_status heed_web_map_rollout_back(heed_web *web, const float *layer, uint32_t heads,
                                      uint32_t tokens, heed_fusion fusion, double residual,
                                      double discard, double *row);
HEED_WEB_EXPORT(score_products)
void heed_web_score_products(const float *one, const float *all, uint32_t tokens, uint32_t depth,
                             uint32_t scaled, float *scores);
HEED_WEB_EXPORT(score_mask)
void heed_web_score_mask(const heed_changes *changes, uint32_t layer, uint32_t head, uint32_t token,
                         uint32_t reverse, double temperature, uint32_t tokens, float *scores);
HEED_WEB_EXPORT(score_softmax)
void heed_web_score_softmax(const float *scores, uint32_t n, double *weights);
HEED_WEB_EXPORT(score_values)
void heed_web_score_values(const float *weights, const float *values, uint32_t tokens,
                           uint32_t depth, uint32_t reverse, float *scores);
HEED_WEB_EXPORT(score_mean)
void heed_web_score_mean(const float *scores, uint32_t heads, uint32_t tokens, float *mean);
/* heed_text_row */
HEED_WEB_EXPORT(text_row)
uint32_t heed_web_text_row(const int32_t *ids, uint32_t count, int32_t end, uint32_t padded);
/* heed_compare; size: of an embedding. */
HEED_WEB_EXPORT(text_compare)
void heed_web_text_compare(const float *image, const float *texts, uint32_t count, uint32_t size,
                           double scale, double bias, uint32_t biased, float *logits,
                           double *probability);
/* heed_cosine of each of states [count, size] with one [size]. */
HEED_WEB_EXPORT(text_similarity)
void heed_web_text_similarity(const float *states, const float *one, uint32_t count, uint32_t size,
                              float *cosines);
/* out: opened. */
HEED_WEB_EXPORT(changes_create)
heed_status heed_web_changes_create(heed_web *web, uint32_t layers, uint32_t heads, uint32_t tokens,
                                    uint32_t width);
HEED_WEB_EXPORT(changes_destroy) void heed_web_changes_destroy(heed_changes *changes);
HEED_WEB_EXPORT(changes_ablate)
heed_status heed_web_changes_ablate(heed_web *web, heed_changes *changes, uint32_t layer,
                                    uint32_t head);
HEED_WEB_EXPORT(changes_gain)
heed_status heed_web_changes_gain(heed_web *web, heed_changes *changes, uint32_t layer,
                                  uint32_t head, double gain);
HEED_WEB_EXPORT(changes_drop)
heed_status heed_web_changes_drop(heed_web *web, heed_changes *changes, uint32_t token);
HEED_WEB_EXPORT(changes_cut)
heed_status heed_web_changes_cut(heed_web *web, heed_changes *changes, uint32_t query,
                                 uint32_t key);
HEED_WEB_EXPORT(changes_replace)
heed_status heed_web_changes_replace(heed_web *web, heed_changes *changes, uint32_t layer,
                                     const float *output);
/* The bytes of a block for changes_input; the number of inputs. Of the one at the index, where
 * there is one, out: input, in the block. */
HEED_WEB_EXPORT(changes_room) size_t heed_web_changes_room(const heed_changes *changes);
HEED_WEB_EXPORT(changes_input)
uint32_t heed_web_changes_input(heed_web *web, const heed_changes *changes, uint32_t index,
                                unsigned char *block);

/* scene.c */
HEED_WEB_EXPORT(scene_size) size_t heed_web_scene_size(void);
/* text NULL: the scene of the seed low + 2^32 high. out: scene. */
HEED_WEB_EXPORT(scene_draw)
heed_status heed_web_scene_draw(heed_web *web, heed_web_scene *to, const char *text, size_t size,
                                uint32_t low, uint32_t high);

/* threads.c: in modules with threads */
#if defined(HEED_WEB_THREADS)
/* The pool that threads join. */
HEED_WEB_EXPORT(pool) heed_thread_pool *heed_web_pool(const heed_web *web);
/* Runs on the stack that ends at `stack`; returns when the runtime is destroyed. */
HEED_WEB_EXPORT(thread) void heed_web_thread(heed_thread_pool *pool, uint32_t index, void *stack);
#endif

/* --------------------------------------------------------------------------------- heed-all.wasm
 */

/* reader.c: closes what pickle_open or onnx_open opened; bytes of it as a .safetensors file. */
HEED_WEB_EXPORT(reader_close)
void heed_web_reader_close(const heed_web *web, heed_web_reader *reader);
HEED_WEB_EXPORT(reader_read)
heed_status heed_web_reader_read(heed_web *web, const heed_web_reader *reader, double offset,
                                 void *to, size_t count);

/* pickle.c: `source`: the number by which reads ask for the file; key: the entry that is read, or
 * NULL. out: reader; its address is 0 where the file may be .safetensors. */
HEED_WEB_EXPORT(pickle_open)
heed_status heed_web_pickle_open(heed_web *web, const char *name, double size, uint32_t source,
                                 const char *key);

/* onnx.c: sizes and sources are those of the file, then of its external data, whose locations are
 * `count` strings one after another. A size of -1 says that there is no such file, -2 that it is a
 * link. out: reader; its address, of a heed_web_onnx, is 0 where onnx_wanted lists files that must
 * be brought first. */
HEED_WEB_EXPORT(onnx_open)
heed_status heed_web_onnx_open(heed_web *web, const char *name, const char *locations,
                               const double *sizes, const uint32_t *sources, uint32_t count);
/* NULL after the last. */
HEED_WEB_EXPORT(onnx_wanted) const char *heed_web_onnx_wanted(uint32_t index);
/* One line: what the file is, and how its weights are read. */
HEED_WEB_EXPORT(onnx_note) const char *heed_web_onnx_note(const heed_web_onnx *onnx);

/* patches.c: heed_patches_pca of one picture; numbers: mean, components, variance, scores, colours
 * and rgb, one after the other. */
HEED_WEB_EXPORT(patches_pca)
heed_status heed_web_patches_pca(heed_web *web, const float *states, uint32_t rows,
                                 uint32_t columns, uint32_t channels, float *numbers,
                                 uint8_t *foreground);
/* heed_patches_similarity and, with others, heed_patches_match. */
HEED_WEB_EXPORT(patches_similarity)
heed_status heed_web_patches_similarity(heed_web *web, const float *states, uint32_t count,
                                        const float *others, uint32_t other_count,
                                        uint32_t channels, float *similarity, int32_t *match);

/* heed_patches_cluster */
HEED_WEB_EXPORT(patches_cluster)
heed_status heed_web_patches_cluster(heed_web *web, const float *states, uint32_t count,
                                     uint32_t channels, uint32_t clusters, int32_t *cluster,
                                     float *centres);

/* methods.c: names of heed_explain's methods, of maps over patches, and the method that a map needs
 * (NULL: none); NULL after the last. */
HEED_WEB_EXPORT(explain_method) const char *heed_web_explain_method(uint32_t index);
HEED_WEB_EXPORT(patch_map) const char *heed_web_patch_map(uint32_t index);
HEED_WEB_EXPORT(patch_map_method) const char *heed_web_patch_map_method(uint32_t index);

enum { HEED_WEB_EXPLAIN_INPUTS = 9 };
/* heed_explain of a model of model.c; its tensors go to heed_host_take, and after them the maps
 * [map_count] over patches, by their indices. text NULL, target, sites and heads "": none. wanted:
 * the numbers of the record `explaining`. inputs: names, one after the other; shapes [count, 6]:
 * dtype, rank and four dimensions; data [count]; at most HEED_WEB_EXPLAIN_INPUTS. */
HEED_WEB_EXPORT(explain)
heed_status heed_web_explain(heed_web *web, heed_web_model *model, const heed_web_model *text,
                             const char *methods, const char *target, const char *sites,
                             const char *heads, const struct heed_web_out_explaining *wanted,
                             const double *percent, uint32_t percents, const uint32_t *maps,
                             uint32_t map_count, const char *names, const uint32_t *shapes,
                             const void *const *data, uint32_t count);
/* Ends what explain keeps for its next call; to be called before model_close. */
HEED_WEB_EXPORT(explain_end) void heed_web_explain_end(heed_web_model *model);

/* graph.c: the graph of an ONNX file. */
/* The way that heed_onnx_open_model takes, of the record `way` or the one that is asked for; files
 * as of model_open, the ONNX file among them. out: chosen; a graph is no model yet, and may be any
 * that heed_onnx_lacks names. */
HEED_WEB_EXPORT(onnx_model)
heed_status heed_web_onnx_model(heed_web *web, heed_web_onnx *onnx, uint32_t wanted,
                                const char *names, size_t names_size, const double *sizes,
                                const uint32_t *sources, heed_web_reader *const *readers,
                                uint32_t count);
/* Whether there is an input, or output, of the index. out: port. */
HEED_WEB_EXPORT(graph_port)
uint32_t heed_web_graph_port(heed_web *web, const heed_web_onnx *onnx, uint32_t output,
                             uint32_t index);
/* heed_onnx_attention_name */
HEED_WEB_EXPORT(graph_attention)
const char *heed_web_graph_attention(const heed_web_onnx *onnx, uint32_t index);
/* heed_onnx_way; valid until the next call. */
HEED_WEB_EXPORT(graph_way)
const char *heed_web_graph_way(const heed_web_onnx *onnx, uint32_t kernels, uint32_t unrounded,
                               const char *why);
/* On heed's own ops, in the place of what was lowered before. inputs: a .safetensors file of `size`
 * bytes; 0: inputs of these sizes, 0 = as heed_onnx_lower has them. out: lowered. */
HEED_WEB_EXPORT(graph_lower)
heed_status heed_web_graph_lower(heed_web *web, heed_web_onnx *onnx, const void *inputs,
                                 size_t size, uint32_t batch, uint32_t height, uint32_t width);
/* What was lowered as a model, with the files beside it. A session of it takes what was lowered
 * last. out: opened. */
HEED_WEB_EXPORT(graph_open)
heed_status heed_web_graph_open(heed_web *web, heed_web_onnx *onnx, const char *names,
                                size_t names_size, const double *sizes, const uint32_t *sources,
                                uint32_t count);
/* Why what was lowered is no vision transformer; NULL: it is one, or its inputs were given. */
HEED_WEB_EXPORT(graph_refused) const char *heed_web_graph_refused(const heed_web_onnx *onnx);
/* The name of the input that is the image; NULL: none is. */
HEED_WEB_EXPORT(graph_image) const char *heed_web_graph_image(const heed_web_onnx *onnx);
/* Not 0 where a value of what was lowered has this name. */
HEED_WEB_EXPORT(graph_find)
uint32_t heed_web_graph_find(const heed_web_onnx *onnx, const char *name);
/* The name of an output; NULL: it is known beforehand. And of an attention's weights; NULL: the
 * graph has none. */
HEED_WEB_EXPORT(graph_output)
const char *heed_web_graph_output(heed_web *web, const heed_web_onnx *onnx, uint32_t index);
HEED_WEB_EXPORT(graph_weights)
const char *heed_web_graph_weights(const heed_web_onnx *onnx, uint32_t index);
/* The outputs that are known beforehand; and a run in double. out: block, a .safetensors file. */
HEED_WEB_EXPORT(graph_known)
heed_status heed_web_graph_known(heed_web *web, const heed_web_onnx *onnx);
HEED_WEB_EXPORT(graph_evaluate)
heed_status heed_web_graph_evaluate(heed_web *web, heed_web_onnx *onnx, const void *inputs,
                                    size_t size, uint32_t attentions);

/* tokenizer.c: names: `count` strings one after another, and the
 * bytes of the files, of those sizes. out: tokenizer. */
HEED_WEB_EXPORT(tokenizer_open)
heed_status heed_web_tokenizer_open(heed_web *web, const char *names, const double *sizes,
                                    const void *bytes, uint32_t count);
/* ids: room for `most`. out: ids. */
HEED_WEB_EXPORT(tokenizer_encode)
heed_status heed_web_tokenizer_encode(heed_web *web, const heed_tokenizer *tokenizer,
                                      const char *text, size_t length, int32_t *ids, uint32_t most);
/* heed_tokenizer_text */
HEED_WEB_EXPORT(tokenizer_text)
void heed_web_tokenizer_text(const heed_tokenizer *tokenizer, int32_t id, char *to, size_t size);

/* check.c */
/* out: check. */
HEED_WEB_EXPORT(check)
heed_status heed_web_check(heed_web *web, const void *bytes, size_t size, double tolerance,
                           int results);
/* A standard's cases; the counts as JSON are at check_counts then. */
HEED_WEB_EXPORT(check_profile)
heed_status heed_web_check_profile(heed_web *web, const char *profile, double tolerance);
HEED_WEB_EXPORT(check_counts) const char *heed_web_check_counts(void);

/* --------------------------------------------------------------------------------- heed-gpu.wasm
 */

/* What the module asks of a WebGPU device. Programs are numbers from 1 on; buffers, words of a
 * dispatch and the order of calls are as in runtime/gpu/list_backend.h. */
HEED_WEB_IMPORT(gpu_begin) uint32_t heed_host_gpu_begin(void);
HEED_WEB_IMPORT(gpu_end) void heed_host_gpu_end(uint32_t program);
HEED_WEB_IMPORT(gpu_buffer)
void heed_host_gpu_buffer(uint32_t program, uint32_t buffer, double bytes);
HEED_WEB_IMPORT(gpu_dispatch)
void heed_host_gpu_dispatch(uint32_t program, const void *words, size_t count, const char *shader);
HEED_WEB_IMPORT(gpu_write)
void heed_host_gpu_write(uint32_t program, uint32_t buffer, double offset, const void *from,
                         size_t bytes);
HEED_WEB_IMPORT(gpu_run) void heed_host_gpu_run(uint32_t program, uint32_t first, uint32_t end);
/* Fills `to` with the bytes where the host has them. Else with zeros, and the host repeats the call
 * of this module that asked, once it has them. */
HEED_WEB_IMPORT(gpu_read)
void heed_host_gpu_read(uint32_t program, uint32_t buffer, double offset, void *to, size_t bytes);

/* gpu.c: from now on sessions are of a device with these limits, a record gpu_limits. */
HEED_WEB_EXPORT(gpu_start)
heed_status heed_web_gpu_start(heed_web *web, const double *limits, const char *device);
/* The self-check: its graph on the CPU, and on the device as a program that is yet to run. models:
 * with products and attentions in the sizes of models. out: opened. */
typedef struct heed_web_gpu_check heed_web_gpu_check;
HEED_WEB_EXPORT(gpu_check)
heed_status heed_web_gpu_check_create(heed_web *web, uint32_t models, uint32_t half);
/* Compares. out: gpu_check. */
HEED_WEB_EXPORT(gpu_check_result)
heed_status heed_web_gpu_check_result(heed_web *web, heed_web_gpu_check *check);
HEED_WEB_EXPORT(gpu_check_close) void heed_web_gpu_check_close(heed_web_gpu_check *check);

/* ------------------------------------------------------------------------------------- for tests
 */

/* int8_check.c */
/* heed_cpu_level */
HEED_WEB_EXPORT(int8_level) const char *heed_web_int8_level(uint32_t index);
/* y [rows, columns] = x [rows, depth] times the weight [columns, depth] of int8 with its scales, on
 * the level of this name. */
HEED_WEB_EXPORT(int8_linear)
heed_status heed_web_int8_linear(heed_web *web, const char *level, uint32_t rows, uint32_t depth,
                                 uint32_t columns, const float *x, const int8_t *weight,
                                 const float *scale, float *y);

/* What the map of a pooling attention is called in the graph. */
#define HEED_WEB_POOL "pool.attention.weights"

#endif
