/* heed with files and devices: a model from a path, a picture, the backend of this machine, a
 * figure as PNG, SVG or PDF. A library of its own beside the core (CMake heed::native, pkg-config
 * heed-native). The heed command uses it. It needs POSIX files, libpng and libjpeg; figures need
 * cairo. native/examples/vit.c is the whole way from a folder and a photo to classes and a map.
 *
 * EXPERIMENTAL has the meaning that it has in heed/heed.h. */
#ifndef HEED_NATIVE_H
#define HEED_NATIVE_H

#include <stdio.h>

#include "heed/heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------- model files */

/* The open files of a model on disk. The model reads ranges of them, so a large file is never in
 * memory whole. */
typedef struct heed_model_files heed_model_files;

/* Opens a Hugging Face style folder, or one .safetensors file, ONNX file (heed/onnx.h) or file of
 * PyTorch (heed/pickle.h) with the config files beside it. In a folder .safetensors come before
 * pytorch_model.bin, this before one of another name, and ONNX files last: those of the folder, or
 * of its folder onnx/. Of these model.onnx is taken, then vision_model.onnx, then those of fewer
 * bits. External data of an ONNX file is opened beneath the file's folder alone. For anything else
 * the sentence names what to do: for a name on the hub, a file of another format, a git-lfs
 * pointer. Borrows context, copies path. Statuses: IO, INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_model_files_open(heed_context *context, const char *path,
                                                          heed_model_files **files,
                                                          heed_error *error);
/* EXPERIMENTAL: may change. The same for what lies under one entry of a file of PyTorch, such as
 * "state_dict_ema" (heed_pickle_open_key); NULL: as heed_model_files_open. */
HEED_NODISCARD HEED_API heed_status heed_model_files_open_key(heed_context *context,
                                                              const char *path, const char *key,
                                                              heed_model_files **files,
                                                              heed_error *error);
/* EXPERIMENTAL: may change. How the files of a model are opened; all but struct_size may be NULL.
 */
typedef struct heed_files_desc {
  size_t struct_size;
  const char *key;   /* as in heed_model_files_open_key */
  const char *names; /* the path of the file that is taken for the folder's names.json */
  /* "heads=4,norm=after": facts that are taken before those of the files (docs/models.md) */
  const char *hints;
} heed_files_desc;
HEED_NODISCARD HEED_API heed_status heed_model_files_open_as(heed_context *context,
                                                             const char *path,
                                                             const heed_files_desc *desc,
                                                             heed_model_files **files,
                                                             heed_error *error);
/* The argument of heed_model_open. Valid as long as `files`, which must outlive every model opened
 * from it. */
HEED_API const heed_model_desc *heed_model_files_desc(const heed_model_files *files);
/* EXPERIMENTAL: may change. The ONNX file among them, or NULL. Valid as long as `files`. */
HEED_API struct heed_onnx *heed_model_files_onnx(const heed_model_files *files);
/* EXPERIMENTAL: may change. How weights are read that are not .safetensors, in one line:
 * "model.onnx: ONNX file as weights of heed's own graph (opset 17 by pytorch 1.13.1, ...)"; NULL:
 * there is nothing to say. Valid as long as `files`. */
HEED_API const char *heed_model_files_note(const heed_model_files *files);
HEED_API void heed_model_files_destroy(heed_model_files *files);

/* Zero is a default for every field. */
typedef struct heed_load_desc {
  size_t struct_size;
  const char *weights_key; /* as `key` of heed_model_files_open_key */
  /* of pixel_values, of an ONNX graph that leaves them open; as of heed_onnx_vision */
  uint32_t height, width;
  heed_tower tower;          /* of a folder that has both: CLIP, SigLIP */
  const char *names, *hints; /* as in heed_files_desc */
} heed_load_desc;
/* Opens what a path names as a model, in one call: a folder, a file of weights, or an ONNX graph,
 * which needs no config. An ONNX file is read as weights where config.json names a family that heed
 * knows, else as the graph that it is (heed_onnx_open_model); both are built, run and tapped alike.
 * desc NULL: defaults. Borrows context. Destroy the model first, then *files, which it reads from.
 * heed_model_describe says what was opened. After a failure both are NULL. Statuses: those of
 * heed_model_files_open, heed_model_open and heed_onnx_vision. */
HEED_NODISCARD HEED_API heed_status heed_model_load(heed_context *context, const char *path,
                                                    const heed_load_desc *desc,
                                                    heed_model_files **files, heed_model **model,
                                                    heed_error *error);

/* EXPERIMENTAL: may change. Calls `visit` with the path of each file that heed_model_files_open
 * would read, and opens none; but where no name in a folder says what its weights are, it looks at
 * the first bytes of the files there. The first failure of `visit` ends it, with that status.
 * Statuses: also IO, OUT_OF_MEMORY. */
typedef heed_status (*heed_model_file_visit)(void *user, const char *path, heed_error *error);
HEED_NODISCARD HEED_API heed_status heed_model_files_each(const char *path,
                                                          heed_model_file_visit visit, void *user,
                                                          heed_error *error);

/* EXPERIMENTAL: may change. Whether a path is a model and not a picture: a folder is, a regular
 * file by its first bytes, whatever its name; else its name says it. Of pipes and devices only the
 * name is looked at. */
HEED_API bool heed_is_model_path(const char *path);
/* EXPERIMENTAL: may change. Whether a regular file begins as a picture does, also one of a kind
 * that heed_image_load does not decode. */
HEED_API bool heed_is_picture_path(const char *path);

/* Reads a whole regular file of at most `limit` bytes. The caller frees *bytes with free().
 * Statuses: IO, INVALID_FILE (longer), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_file_read(const char *path, uint64_t limit,
                                                   unsigned char **bytes, size_t *size,
                                                   heed_error *error);

/* ------------------------------------------------------------------------------- files written */

/* EXPERIMENTAL: all of this chapter may change.
 *
 * A file appears whole or not at all: it is written under a temporary name in the same folder, then
 * renamed. It takes the permissions of the file that it replaces. A link remains, and its target is
 * written. Devices and pipes are written directly. Nothing is synced, so the promise covers a
 * program that fails or is killed, and no power cut. */

/* Writes `size` bytes. Statuses: IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_file_write(const char *path, const void *bytes,
                                                    size_t size, heed_error *error);

/* Writes the bytes of a file to `to`, and does not close it. It need not check its writes. A
 * status that is not HEED_OK ends the writing and leaves `path` as it was. */
typedef heed_status (*heed_file_writer)(void *user, FILE *to, heed_error *error);
/* Calls `write` once, then checks that all bytes were written. Statuses: those of `write`, IO,
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_file_stream(const char *path, heed_file_writer write,
                                                     void *user, heed_error *error);

/* Removes the temporary files that are being written, for the handler of a signal that ends the
 * program: async-signal-safe on POSIX systems, where at most 16 files at once are known. The
 * program must end afterwards. */
HEED_API void heed_file_abandon_all(void);

#define HEED_PATH_SIZE 4096
/* The path that these functions write for `path`: links are followed, also one to what is not there
 * yet. Returns 0, or an errno. */
HEED_API int heed_file_target(const char *path, char target[HEED_PATH_SIZE]);

/* --------------------------------------------------------------------------------- tensor files */

/* EXPERIMENTAL: all of this chapter may change.
 *
 * An open .safetensors file, or file of PyTorch. Its header is in memory; tensors are read by
 * range. */
typedef struct heed_tensor_file heed_tensor_file;

/* Strings are valid as long as the file. */
typedef struct heed_file_tensor {
  const char *name;
  const char *dtype_name;  /* as in the file, also where heed cannot read it: "U16" */
  const char *unsupported; /* NULL, or why heed cannot read it; then dtype and shape are unset */
  heed_dtype dtype;
  heed_shape shape;
  uint64_t count; /* elements */
} heed_file_tensor;

/* Opens a file and checks its header. `expected` ends the sentence about a file of another kind;
 * NULL: ".safetensors". Borrows context, copies path. Statuses: IO, INVALID_FILE, UNSUPPORTED,
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_tensor_file_open(heed_context *context, const char *path,
                                                          const char *expected,
                                                          heed_tensor_file **file,
                                                          heed_error *error);
HEED_API void heed_tensor_file_destroy(heed_tensor_file *file);
/* The tensors in the order of their data: their number, and each of them (NULL after the last). */
HEED_API uint32_t heed_tensor_file_count(const heed_tensor_file *file);
HEED_API const heed_file_tensor *heed_tensor_file_get(const heed_tensor_file *file, uint32_t index);
/* The tensor of this name, or NULL. */
HEED_API const heed_file_tensor *heed_tensor_file_find(const heed_tensor_file *file,
                                                       const char *name);
/* The text of this key in the file's metadata, or NULL. Valid as long as the file. */
HEED_API const char *heed_tensor_file_metadata(const heed_tensor_file *file, const char *key);
/* Reads elements [first, first + count) of a tensor of this file: F32, F16 and BF16 as float, U8
 * and I32 as they are, I64 as I32. Several threads may read. Statuses: INVALID_ARGUMENT (outside
 * the tensor), INVALID_FILE (a number of more than 32 bits), UNSUPPORTED, IO. */
HEED_NODISCARD HEED_API heed_status heed_tensor_file_read(const heed_tensor_file *file,
                                                          const heed_file_tensor *tensor,
                                                          uint64_t first, uint64_t count, void *to,
                                                          heed_error *error);

/* A tensor to be written. */
typedef struct heed_tensor_data {
  const char *name; /* UTF-8 */
  heed_dtype dtype;
  heed_shape shape;
  const void *data; /* dense; may be NULL where there is no element */
} heed_tensor_data;
typedef struct heed_metadata_entry {
  const char *key, *text; /* UTF-8 */
} heed_metadata_entry;
/* Writes a file, which appears whole or not at all. The path's ending says the format: .npz or .npy
 * of NumPy, else .safetensors. In .safetensors tensors are ordered as the reference writer does it:
 * widest dtype first, then by name. An .npz has them as they are given and each metadata entry as a
 * text of no dimension; an .npy is one tensor. Borrows everything for the call. Statuses:
 * INVALID_ARGUMENT (a name twice, a text that is not UTF-8, .npy of another count), UNSUPPORTED
 * (BF16 as .npz or .npy), IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_tensor_file_write(
    heed_context *context, const char *path, const heed_tensor_data *tensors, uint32_t count,
    const heed_metadata_entry *metadata, uint32_t metadata_count, heed_error *error);
/* The same to an open file, one byte after another, so that a pipe will do. `name` begins
 * sentences, and its ending says the format. Neither closes nor flushes `to`. Statuses: the same.
 */
HEED_NODISCARD HEED_API heed_status heed_tensor_file_put(
    heed_context *context, FILE *to, const char *name, const heed_tensor_data *tensors,
    uint32_t count, const heed_metadata_entry *metadata, uint32_t metadata_count,
    heed_error *error);
/* Writes what a source of .safetensors has: of a name that ends with .npz or .npy its tensors as
 * NumPy's arrays, of the types that they have, also I64 and BOOL; else the bytes as they are.
 * Borrows everything for the call. Statuses: INVALID_ARGUMENT (.npy of another count),
 * INVALID_FILE, UNSUPPORTED (more than 6 axes, or a type that NumPy has not, as .npz or .npy), IO,
 * OUT_OF_MEMORY, those of the source. */
HEED_NODISCARD HEED_API heed_status heed_tensor_file_copy(heed_context *context,
                                                          const heed_source *source, FILE *to,
                                                          const char *name, heed_error *error);

/* A table that becomes a tensor file: columns of numbers, [rows, ...] each, and of texts. Rows lie
 * on the disk until it is written, so that memory holds the texts alone. */
typedef struct heed_table heed_table;
typedef struct heed_table_column {
  const char *name;
  heed_shape shape; /* of a row */
} heed_table_column;
typedef struct heed_table_desc {
  size_t struct_size;
  /* the file to be, beside which the rows lie meanwhile; NULL: where the system keeps such files */
  const char *path;
  const heed_table_column *columns;
  uint32_t column_count;
  const char *const *texts; /* names of the columns of texts */
  uint32_t text_count;
} heed_table_desc;
/* Copies desc, borrows context. Statuses: INVALID_ARGUMENT, IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_table_create(heed_context *context,
                                                      const heed_table_desc *desc,
                                                      heed_table **table, heed_error *error);
/* Adds a row: of each column its floats and its text, copied. After a failure the table can only be
 * destroyed. Statuses: IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_table_add(heed_table *table, const float *const *values,
                                                   const char *const *texts, heed_error *error);
HEED_API uint32_t heed_table_rows(const heed_table *table);
/* Writes the table as heed_tensor_file_put does: once, after the last row. Texts are arrays of
 * texts in .npz, lists in JSON among the metadata of .safetensors, and left out of .npy. Statuses:
 * as there. */
HEED_NODISCARD HEED_API heed_status heed_table_put(heed_table *table, FILE *to, const char *name,
                                                   const heed_metadata_entry *metadata,
                                                   uint32_t metadata_count, heed_error *error);
/* Removes what lies on the disk meanwhile. Accepts NULL. */
HEED_API void heed_table_destroy(heed_table *table);

/* ------------------------------------------------------------------------------------- pictures */

/* Larger files are refused while they are read, larger pictures before anything is allocated for
 * them. */
#define HEED_IMAGE_MAX_BYTES (1u << 30)
#define HEED_IMAGE_MAX_PIXELS (1u << 28)
#define HEED_IMAGE_MAX_SIDE (1u << 20)
/* Encoders write about ten scans. */
#define HEED_IMAGE_MAX_SCANS 500u
/* Other limits than these, for files from a source that is trusted. 0: as above. */
typedef struct heed_image_limits {
  size_t struct_size;
  uint32_t bytes;  /* of the file */
  uint32_t pixels; /* width x height. A JPEG of several scans may have 16 pixels in its scans and 4
                      bytes of coefficients for each of them */
  uint32_t side;   /* the larger of width and height */
  uint32_t scans;  /* of a JPEG */
  /* What the model takes, heed_model_info.channels; 0 = 3. With 3, pictures are RGB of 8 bits. With
   * 1 they are that, too, but grey of 16 bits stays. Others need an array or a TIFF of as many
   * channels. */
  uint32_t channels;
  uint32_t frame; /* of an animated WebP, or page of a TIFF, from 0 */
  /* A JPEG is decoded at 1/2, 1/4 or 1/8 of its size where both sides stay this long: in a fraction
   * of the time, with other pixels than Pillow's. 0: whole. */
  uint32_t least_side;
} heed_image_limits;

/* Dense: [height, width, channels]. The pixels are the context's memory; free them with
 * heed_picture_free. */
typedef struct heed_picture {
  uint8_t *pixels; /* the first byte */
  uint32_t width, height;
  uint32_t channels;    /* 0 = 3 */
  heed_samples samples; /* arrays may have others than 8 bits */
  uint32_t frames;      /* of the file; this is one of them */
  uint32_t part; /* a JPEG: its sides are 1/part of the file's, as least_side says; 0 or 1: whole */
} heed_picture;

/* The kinds of image that this build reads: "PNG, JPEG, WebP, TIFF, .npy and .npz". */
HEED_API const char *heed_image_kinds(void);
/* Reads and decodes a file, by its first bytes and not by its name; path "-" is stdin. It is a PNG,
 * a JPEG, a WebP or TIFF where this build has their libraries, or NumPy's .npy or .npz with one
 * array, [H, W], [C, H, W] or [H, W, C]: bytes, 16-bit numbers, and whatever else as floats. The
 * result for a picture equals Pillow's after ImageOps.exif_transpose and convert("RGB"). So alpha
 * is dropped, the EXIF orientation is applied, CMYK is Adobe's inverted one, and 16-bit colour
 * keeps its high byte. One difference: 16-bit grey is scaled by 1/257 and rounded, where Pillow
 * clips it to 255. A JPEG whose data ends early or is corrupt is an error. A TIFF whose samples are
 * no colours of 8 or 16 bits has floats. Statuses: IO (cannot be read), INVALID_FILE (not whole,
 * too large, of other channels), UNSUPPORTED (kind of colour), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_image_load(heed_context *context, const char *path,
                                                    heed_picture *picture, heed_error *error);
/* Decodes `size` bytes in memory, which it borrows for the call. `name` begins the sentence of an
 * error. Statuses: as heed_image_load, without IO. */
HEED_NODISCARD HEED_API heed_status heed_image_decode(heed_context *context, const char *name,
                                                      const void *bytes, size_t size,
                                                      heed_picture *picture, heed_error *error);
/* As heed_image_load and heed_image_decode, with other limits; NULL: as theirs. Statuses: as
 * theirs, INVALID_ARGUMENT (struct_size). */
HEED_NODISCARD HEED_API heed_status heed_image_load_within(heed_context *context, const char *path,
                                                           const heed_image_limits *limits,
                                                           heed_picture *picture,
                                                           heed_error *error);
HEED_NODISCARD HEED_API heed_status
heed_image_decode_within(heed_context *context, const char *name, const void *bytes, size_t size,
                         const heed_image_limits *limits, heed_picture *picture, heed_error *error);
/* Creates a black picture to draw on. `name` begins the sentence of an error. Statuses:
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_picture_create(heed_context *context, const char *name,
                                                        uint32_t width, uint32_t height,
                                                        heed_picture *picture, heed_error *error);
HEED_API void heed_picture_free(heed_context *context, heed_picture *picture);
/* Makes a picture of other channels or samples one that can be drawn, RGB of 8 bits: of three or
 * more channels the first three, else the first in grey. Numbers of 16 bits are divided by 257, and
 * floats lie between the least and the largest of what is shown. Other pictures stay. Statuses:
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_picture_show(heed_context *context, heed_picture *picture,
                                                      heed_error *error);
/* As heed_preprocess_image and heed_figure_write take it; valid as long as the picture. */
HEED_API heed_image heed_picture_view(const heed_picture *picture);

/* Writes RGB, 8 bit, dense, as PNG under a temporary name in the same folder, then renames it:
 * `path` is whole or as it was before. Statuses: IO, INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_png_write(const char *path, const uint8_t *pixels,
                                                   uint32_t width, uint32_t height,
                                                   heed_error *error);
/* EXPERIMENTAL: may change. The same to an open file; with 4 channels RGBA. Neither closes nor
 * flushes `to`. Statuses: IO, INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_png_put(FILE *to, const uint8_t *pixels, uint32_t width,
                                                 uint32_t height, uint32_t channels,
                                                 heed_error *error);

/* -------------------------------------------------------------------------------------- figures */

/* How weights become colours. N is the number of tokens.
 * UNIFORM: weight * N; 1 is uniform attention. SHARE: per cent of the query's row. LOG: weight * N
 * from 0.01 on a logarithmic scale. These three end at the largest weight drawn, or at min(4, N) /
 * N where that is more: a map without weight stays dark. OWN: each map ends at its own largest
 * weight. AUTO: UNIFORM, or LOG for a grid in which one map would use up the scale: of the maps
 * that reach 1 x uniform, more than half stay below a quarter of the end. */
typedef enum heed_scale_kind {
  HEED_SCALE_AUTO = 0,
  HEED_SCALE_UNIFORM = 1,
  HEED_SCALE_SHARE = 2,
  HEED_SCALE_LOG = 3,
  HEED_SCALE_OWN = 4
} heed_scale_kind;

/* Zero is a default for every field that is not marked as required. Texts are UTF-8; controls and
 * bytes that are not UTF-8 become '?'. */
typedef struct heed_figure_desc {
  size_t struct_size;
  heed_image image;   /* required: the whole picture */
  heed_region region; /* required: the part that the model saw; the patches lie on it */
  /* required without `rgb`, [layers, heads, rows * columns]: weight of each patch for the query,
   * without the tokens before the patches */
  const float *maps;
  /* [layers, heads]: weight on the tokens before the patches; NULL: not shown */
  const float *prefix_mass;
  uint32_t layers, heads, rows, columns; /* required; at most 4096 each */
  uint32_t tokens;                       /* required: N, at least rows * columns */
  const uint32_t *layer_numbers;         /* names of the grid's rows; NULL: 0, 1, ... */
  const char *const *column_labels;      /* names of the grid's columns; NULL: by head_numbers */
  int32_t query_row, query_column;       /* the query's patch, which is marked; -1: not a patch */
  heed_colormap colormap;                /* of the maps */
  const char *caption;                   /* lines below the figure; the scale is always added */
  heed_scale_kind scale;
  const char *note;             /* on the picture, from heed_map_elsewhere */
  const uint32_t *head_numbers; /* NULL: 0, 1, ... */
  const char *title;            /* below the picture, and the title in the metadata */
  const char *query_name;       /* beside the mark; NULL: "query (row, column)", or "query: CLS" */
  const char *provenance; /* description in the metadata, before the scale; NULL: the caption */
  /* 0: 800 units of 1/96 inch, in a PNG 1600 pixels. Else 60 to 1000 millimetres, in a PNG at 300
   * pixels per inch. */
  double width_mm;
  /* of the tokens before the patches together; NULL: "CLS" where it is one, "CLS and registers"
   * where there are more */
  const char *prefix_name;
  /* where the scale of the maps and of the picture ends, in times uniform, 1 to tokens: figures
   * with one end compare. 0: by the largest weight. Not for OWN */
  double end;
  /* EXPERIMENTAL: may change. Bare panels for a page that has words of its own: picture and maps
   * edge to edge, with the query's mark, and no words, bars, frames or margins. The metadata has
   * title and scale all the same. */
  bool plain;
  /* EXPERIMENTAL: may change. In the place of `maps`, [layers, heads, rows * columns, 3]: red,
   * green and blue of each patch, 0 to 1; grey where one is NaN. Such a figure has no scale, and
   * nothing lies over the picture. */
  const float *rgb;
} heed_figure_desc;

/* Whether heed_figure_write can write a file of this name. The name's ending says the format: .png,
 * .svg or .pdf; a name without an ending is a PNG. Nothing is opened. Statuses: INVALID_ARGUMENT
 * (another ending), UNSUPPORTED (heed was built without cairo). */
HEED_NODISCARD HEED_API heed_status heed_figure_check(const char *path, heed_error *error);

/* Draws the picture beside the maps as a grid of layers x heads, each with a bar of its scale. Over
 * the picture lies the mean of the maps, as opaque as the weight is large. One font (DejaVu Sans,
 * or what fontconfig finds for it) is used; where there is none, the log says so and signs beside
 * ASCII are spelled out; SVG and PDF hold text as text. The file's metadata has
 * title and provenance, and no date: equal inputs and fonts give equal bytes. The file appears
 * whole or not at all. Borrows everything for the call. Statuses: those of heed_figure_check,
 * INVALID_ARGUMENT, IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_figure_write(heed_context *context,
                                                      const heed_figure_desc *desc,
                                                      const char *path, heed_error *error);

/* EXPERIMENTAL: may change. A contact sheet: many pictures on one page, each under its map and with
 * two lines of words, on one scale. */
typedef struct heed_sheet heed_sheet;
#define HEED_SHEET_MOST 400u
/* Zero is a default for every field that is not marked as required. */
typedef struct heed_sheet_tile {
  size_t struct_size;
  heed_image image;        /* required: the whole picture */
  heed_region region;      /* required: the part that the model saw */
  const float *map;        /* required, [rows * columns]: weight of each patch */
  uint32_t rows, columns;  /* required; at most 4096 each */
  uint32_t tokens;         /* required: N, at least rows * columns */
  const char *name, *note; /* the lines below the picture; shortened where they do not fit */
} heed_sheet_tile;
typedef struct heed_sheet_desc {
  size_t struct_size;
  double width_mm; /* as of heed_figure_desc */
  heed_colormap colormap;
  const char *caption;    /* one line at the foot */
  const char *title;      /* of the metadata */
  const char *provenance; /* of the metadata; NULL: the caption */
  heed_scale_kind scale;  /* SHARE is UNIFORM: tiles may have different numbers of tokens */
} heed_sheet_desc;
/* Borrows context. Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_sheet_create(heed_context *context, heed_sheet **sheet,
                                                      heed_error *error);
/* Copies what the tile points to, the picture made small: about 0.25 MB. Statuses: INVALID_ARGUMENT
 * (also more than HEED_SHEET_MOST tiles), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_sheet_add(heed_sheet *sheet, const heed_sheet_tile *tile,
                                                   heed_error *error);
HEED_API uint32_t heed_sheet_count(const heed_sheet *sheet);
/* Writes the page as heed_figure_write writes a figure; one scale in times
 * uniform holds for all tiles, but for OWN. desc NULL: defaults. Statuses: those of
 * heed_figure_write. */
HEED_NODISCARD HEED_API heed_status heed_sheet_write(const heed_sheet *sheet,
                                                     const heed_sheet_desc *desc, const char *path,
                                                     heed_error *error);
HEED_API void heed_sheet_destroy(heed_sheet *sheet);

/* -------------------------------------------------------------------------------------- backend */

struct heed_vulkan_desc; /* heed/vulkan.h */

typedef struct heed_auto_desc {
  size_t struct_size;
  const heed_cpu_desc *cpu; /* for the CPU backend; NULL: defaults */
  /* for Vulkan; NULL: defaults. A device >= 0 is the only one tried, also if it is a software one.
   */
  const struct heed_vulkan_desc *vulkan;
} heed_auto_desc;

#define HEED_AUTO_WHY_SIZE (HEED_ERROR_MESSAGE_SIZE + 128)
/* What was chosen. */
typedef struct heed_auto_choice {
  /* the Vulkan device as heed_vulkan_device_list counts; -1: the CPU */
  int32_t device;
  /* `why` is about a software device, which is chosen only by its index */
  bool software;
  char why[HEED_AUTO_WHY_SIZE]; /* one line: "device 0 passed its self-check of 34 kernels", "no
                                   Vulkan device" */
} heed_auto_choice;

/* Creates a backend on the first Vulkan GPU that passes its self-check, else on the CPU. `choice`
 * (nullable) receives why. A software device is chosen only if desc names it. A build without
 * Vulkan chooses the CPU. desc NULL: defaults. Copies desc, borrows context. Statuses: NO_DEVICE
 * (desc names a device that is not there), and those of heed_cpu_backend_create. */
HEED_NODISCARD HEED_API heed_status heed_auto_backend_create(heed_context *context,
                                                             const heed_auto_desc *desc,
                                                             heed_backend **backend,
                                                             heed_auto_choice *choice,
                                                             heed_error *error);

/* -------------------------------------------------------------------------------------- sandbox */

/* EXPERIMENTAL: may change. What was confined. */
typedef enum heed_sandbox_part {
  HEED_SANDBOX_CALLS = 1, /* seccomp */
  HEED_SANDBOX_FILES = 2  /* Landlock */
} heed_sandbox_part;

typedef struct heed_sandbox_desc {
  size_t struct_size;
  /* folders in which files may still be written, made and removed, and single files that may be
   * written; what is not there is left out */
  const char *const *writable;
  uint32_t writable_count;
} heed_sandbox_desc;

/* EXPERIMENTAL: may change. Takes power from the calling thread and from those that it will start,
 * until the process ends: call it first, before files of others are read. Files may still be read.
 * CALLS: processes, sockets, tracing, mounts, kernel keys and modules are refused (EPERM), and
 * starting a program raises SIGSYS. FILES: nothing is written beside `writable`, nothing executed,
 * no TCP connection made. Drivers of GPUs work. `parts` (nullable) receives which of the two this
 * kernel has. Linux on x86-64 and arm64; elsewhere FILES alone, or UNSUPPORTED. Statuses:
 * INVALID_ARGUMENT, UNSUPPORTED (neither). */
HEED_NODISCARD HEED_API heed_status heed_sandbox_enter(const heed_sandbox_desc *desc,
                                                       uint32_t *parts, heed_error *error);

#ifdef __cplusplus
}
#endif
#endif
