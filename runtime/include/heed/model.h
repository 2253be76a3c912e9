/* The chapter of models in heed.h: from files to a graph, and from a picture to pixel_values. */
#ifndef HEED_MODEL_H
#define HEED_MODEL_H

#include "heed/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------- models */

/* Where bytes come from: `bytes`, or `read`, which copies [offset, offset + count) and is never
 * called beyond `size`. */
typedef struct heed_source {
  uint64_t size;
  const void *bytes;
  heed_status (*read)(void *user, uint64_t offset, void *to, size_t count, heed_error *error);
  void *user;
} heed_source;

/* A file of a model folder, by its name there: "config.json", "preprocessor_config.json",
 * "names.json" and, before it, "hints.json" (what a user says of the model: docs/models.md),
 * "model.safetensors", its index ("model.safetensors.index.json") and shards, or a single file of
 * any name *.safetensors. Files of PyTorch keep theirs; heed/pickle.h makes their sources. */
typedef struct heed_model_file {
  const char *name;
  heed_source source;
} heed_model_file;

/* Which part of an image-and-text model is opened. The other part's weights are not read. */
typedef enum heed_tower {
  HEED_TOWER_VISION = 0,
  HEED_TOWER_TEXT = 1 /* CLIP's or SigLIP's */
} heed_tower;
typedef struct heed_model_desc {
  size_t struct_size;
  /* The array is copied. What the sources point to is borrowed until the model is destroyed. */
  const heed_model_file *files;
  uint32_t file_count;
  heed_tower tower;
} heed_model_desc;

typedef struct heed_model heed_model;

/* Opens a transformer of images, or of the texts beside them: reads headers and config, finds the
 * tensors by name and checks every shape. It reads no model weights yet. docs/models.md lists the
 * families and their tensor names. heed/sequences.h opens encoder-decoders. Statuses:
 * INVALID_ARGUMENT, INVALID_FILE, UNSUPPORTED, IO, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_model_open(heed_context *context,
                                                    const heed_model_desc *desc, heed_model **model,
                                                    heed_error *error);
HEED_API void heed_model_destroy(heed_model *model);

typedef enum heed_model_kind {
  HEED_MODEL_VISION = 0,          /* a vision transformer: pixel_values in */
  HEED_MODEL_ENCODER_DECODER = 1, /* a sequence in, a sequence out */
  HEED_MODEL_TEXT = 2             /* a text tower: input_ids in */
} heed_model_kind;

/* What a model is. Fields of the other kind are 0. Strings are valid as long as the model. */
typedef struct heed_model_info {
  heed_model_kind kind;
  /* "vit", "deit", "dinov2", "dinov2_with_registers", "dinov2 (original)", "timm" ...;
   * "transformer", "lstm", "gru" */
  const char *family;
  uint32_t width;  /* C; of an encoder-decoder: of decoder states */
  uint32_t layers; /* of an encoder-decoder: both sides together */
  uint32_t heads, mlp_width;
  /* H D, of all heads of a vision transformer together: width, but in ViTs whose authors chose
   * another; 0: width */
  uint32_t attention_width;
  float epsilon; /* of the layer norms */
  heed_activation activation;
  uint64_t parameters;   /* elements of the tensors used */
  uint64_t weight_bytes; /* their size as stored in the files */
  uint32_t tensors_used, tensors_unused;

  /* vision transformers */
  /* how positions are resized for another grid: "bicubic", "bicubic, antialiased" ...; "none"
   * where the model stores none */
  const char *positions;
  /* Other files have the same tensor names, and no config.json names the family. */
  bool family_assumed;
  bool heads_guessed; /* no file tells the number of heads: it is that of published models of the
                         width, else width / 64 */
  /* The rules that shapes do not tell, in one line: "classifier on CLS, gelu, epsilon 1e-12,
   * positions bicubic". */
  const char *rules;
  /* What heed assumed because no file tells it, or takes though a file tells another thing, in one
   * line (docs/limits.md); NULL: nothing. The log has what is assumed of sizes and rules. */
  const char *assumed;
  uint32_t image_size, channels, patch;
  uint32_t prefix_tokens; /* CLS, distillation and registers before the patches */
  uint32_t pool_heads;    /* of the pooling attention; 0: there is none */
  /* their names, [prefix_tokens]: "CLS", "distillation", "register 2" */
  const char *const *token_names;
  uint32_t classes; /* 0: no classifier */

  /* encoder-decoders */
  uint32_t encoder_layers, decoder_layers;
  uint32_t source_vocabulary; /* 0: the source is feature vectors; of a text tower: token ids */
  uint32_t features;          /* numbers per feature vector; 0: the source is tokens */
  uint32_t target_vocabulary, max_length;
  /* token ids; padding -1 where the file names none; end of a text tower: heed_text_row */
  int32_t begin, end, padding;

  uint32_t projection; /* E, numbers of an image's or a text's embedding; 0: none */

  /* text towers */
  /* Whether a text fills the tower's max_length tokens up with padding, and its last token's state
   * is the text's: SigLIP. */
  bool text_padded;
  /* Of heed_compare, as stored: the logarithm of the factor of cosines, and what is added. */
  bool scaled, biased; /* whether the file has them; without, 0 */
  float logit_scale, logit_bias;
  bool causal; /* no token attends to a later one, so that padding behind a text changes nothing */

  /* of a vision transformer: heed_build_desc.patches must be as many; 1 where it has no token
   * before the patches or its answer gathers patches, else 0 */
  uint32_t fewest_patches;

  /* of a model of videos: frames of pixel_values, and frames that a token covers; 0: it takes one
   * picture */
  uint32_t frames, tubelet;
  /* of a hierarchical vision transformer (Swin): how many grids its layers have, of which
   * heed_model_layer has each; width, heads and mlp_width are the last one's; 1: one, with windows
   * in some layers (SAM); 0: one, and no windows that heed_layer_info has */
  uint32_t stages;
} heed_model_info;
HEED_API void heed_model_get_info(const heed_model *model, heed_model_info *info);
/* EXPERIMENTAL: the words may change. Writes what was opened, in lines that end with '\n': family
 * and sizes, rules, what was guessed and assumed, the preprocessing, parameters and bytes. Nothing
 * in them is for a terminal to obey. Writes at most `size` bytes with the 0 at the end, and returns
 * the bytes of the whole text without it, as snprintf does. text may be NULL where size is 0. */
HEED_API size_t heed_model_describe(const heed_model *model, char *text, size_t size);
/* The label of a class from the config, or "class N" when there is none. Valid as long as the
 * model. */
HEED_API const char *heed_model_label(const heed_model *model, uint32_t index);
/* EXPERIMENTAL: may change. Finds the `most` largest of values [size] and returns their number k,
 * which is less than `most` where there are fewer values. index [k] receives their indices, the
 * largest value first; of equal values the smaller index comes first, and NaN comes last.
 * probability [k] may be NULL. It receives their softmax over all values: for logits [classes], the
 * probabilities of the classes. A NaN among the values makes every probability NaN. */
HEED_API uint32_t heed_top(const float *values, uint32_t size, uint32_t most, uint32_t *index,
                           double *probability);
/* EXPERIMENTAL: may change. Returns the softmax over values [size] at `index`, which must be below
 * size. */
HEED_API double heed_probability(const float *values, uint32_t size, uint32_t index);

typedef struct heed_tensor_info {
  const char *name;
  const char *dtype_name;  /* as in the file, also where heed cannot use it: "I64" */
  const char *unsupported; /* NULL, or why heed cannot read it; then dtype and shape are unset */
  heed_dtype dtype;
  heed_shape shape;
  uint64_t bytes;
  bool used;
  /* The Hugging Face name of what the model reads from it; '#' is the layer's number, '|' stands
   * before other names of it. NULL: nothing, or a model that knows its tensors by these very names.
   * In timm's files query, key and value are one tensor, whose role is the query's. */
  const char *role;
  uint32_t layer; /* of the role */
} heed_tensor_info;
/* The number of tensors in the files, and each of them. */
HEED_API uint32_t heed_model_tensor_count(const heed_model *model);
HEED_API void heed_model_tensor(const heed_model *model, uint32_t index, heed_tensor_info *info);

/* EXPERIMENTAL. How heed_model_convert stores the weights of the blocks' linear maps. */
typedef enum heed_storage {
  HEED_STORAGE_INT8, /* int8 with one scale per output channel (docs/quantisation.md) */
  HEED_STORAGE_F16,
  HEED_STORAGE_BF16,
  /* int8 for products in floats: also those of patches and of positions, a scale a row. The config
   * must say so (input_activations: null), or products are those of int8 */
  HEED_STORAGE_INT8_FLOAT
} heed_storage;
/* Takes the next `count` bytes of a file. */
typedef heed_status (*heed_sink)(void *user, const void *bytes, size_t count, heed_error *error);
typedef struct heed_convert_desc {
  size_t struct_size;
  heed_storage storage;
  const char *source_sha256; /* of the original, for the metadata; or NULL */
  heed_sink sink;            /* required */
  void *user;
} heed_convert_desc;
typedef struct heed_convert_info {
  uint32_t converted, kept;           /* tensors */
  uint32_t left_out;                  /* tensors of a dtype that heed does not read */
  uint64_t bytes_before, bytes_after; /* of the tensors that are written */
} heed_convert_info;
/* EXPERIMENTAL. Writes the model's tensors as one .safetensors file: the weights of query, key,
 * value, output, gate and MLP of each layer as `storage` says, all others as they are stored. Reads
 * and writes a row at a time. After an error what the sink got is no file. info may be NULL.
 * Statuses: UNSUPPORTED (no vision or text transformer, weights that are int8 for products in int8
 * already, a number that fp16 does not hold), INVALID_FILE (a weight that is not finite), IO,
 * OUT_OF_MEMORY, what the sink returns. */
HEED_NODISCARD HEED_API heed_status heed_model_convert(const heed_model *model,
                                                       const heed_convert_desc *desc,
                                                       heed_convert_info *info, heed_error *error);
/* EXPERIMENTAL: may change. Writes what the files call a vision transformer's tensors, and what no
 * tensor tells, as the names.json that opens the same weights (docs/models.md); beside the same
 * config.json where there is one. Statuses: UNSUPPORTED (another kind of model), what the sink
 * returns. */
HEED_NODISCARD HEED_API heed_status heed_model_write_names(const heed_model *model, heed_sink sink,
                                                           void *user, heed_error *error);
/* The role of the index-th optional tensor that the files lack; NULL after the last. (A required
 * tensor that is missing is an error of heed_model_open, which names it.) */
HEED_API const char *heed_model_absent(const heed_model *model, uint32_t index);

/* What of an encoder-decoder a graph holds. */
typedef enum heed_model_part {
  HEED_PART_WHOLE = 0,   /* source and target tokens -> logits of every position */
  HEED_PART_ENCODER = 1, /* source -> what a step needs of it */
  HEED_PART_STEP = 2     /* one target token and what earlier steps left -> logits */
} heed_model_part;

/* Fields of the other kind of model must be 0. */
typedef struct heed_build_desc {
  size_t struct_size;
  uint32_t batch; /* 0 = 1 */

  /* vision transformers */
  /* of pixel_values; 0 = the model's image_size. Positions are interpolated by the family's
   * rule. */
  uint32_t height, width;
  /* query rows to output in the attention weights, as heed_attention_desc.rows; NULL = all */
  const uint32_t *rows;
  uint32_t row_count;
  /* Adds inputs that change attention from run to run, and must be written before the first run:
   *   token_mask U8 [B, T], 0 = no token attends to it (1 = real, as key_padding);
   *   layer.i.attention.mask U8 [1, H, T, T], 1 = may attend;
   *   layer.i.attention.offset F32 [1, 1, C], added to the heads' output, C = H D, head by head;
   *   with offset_rows [1, T, C], each token its own;
   *   layer.i.attention.gain F32 [H], a factor of each head's output, offset included.
   * All act before the output projection. A head whose mask is all zero outputs what empty_row
   * says. Use its offset to substitute any other output. */
  bool intervene;
  heed_empty_row empty_row; /* as heed_attention_desc.empty_row */
  float temperature;        /* divides the logits of every attention; 0 = 1 */
  /* Computes the last layer only for the tokens that logits and pooler_output read. */
  bool classes_only;
  /* EXPERIMENTAL: may change. A sequence that patches have left: the tokens before the patches, and
   * `patches` of the grid, any of them. Each works as if the others had never been there: those are
   * keys of no query and part of no mean, and positions are those of the whole grid. T =
   * prefix_tokens
   * + patches. Not with intervene. The inputs are
   *   embeddings F32 [B, T, C] in the place of pixel_values: these tokens' rows of the tap
   * embeddings; tokens I32 [B, T], with rotary positions: the number of each token in the whole
   * sequence; pairs I32 [B, T, T], with relative positions: of a query and a key, the number of the
   * query times the tokens of the whole sequence, plus that of the key. */
  bool shortened;
  uint32_t patches;

  /* encoder-decoders */
  heed_model_part part;
  uint32_t source_length; /* S, also T of a text tower; 0 = max_length */
  uint32_t target_length; /* T: of the whole; the longest target of a step; 0 = max_length */

  bool offset_rows; /* with intervene */

  uint32_t frames; /* of a model of videos, a multiple of its tubelet; 0 = the model's */
} heed_build_desc;

/* EXPERIMENTAL: may change. The row of a text's ids [count] whose state is the text's, by the info
 * of a text tower: the first that is `end`; of the largest id where end is -1; the last where
 * text_padded is set. */
HEED_API uint32_t heed_text_row(const heed_model_info *text, const int32_t *ids, uint32_t count);

/* The model as a graph; desc NULL = defaults. Borrows model.
 *
 * A vision transformer has the input pixel_values F32 [B, channels, height, width], a model of
 * videos [B, frames, channels, height, width]. Its outputs are
 * logits [B, classes] where there is a classifier, last_hidden_state [B, T, C], pooler_output
 * [B, C] where the model defines one, and image_embeds [B, E], not normalised, where there is a
 * projection or a pooling attention. These values can be tapped, i = 0 .. L-1: embeddings;
 * layer.i.query, .key, .value [B, H, T, D]; layer.i.attention.weights and .logits [B, H, T, T];
 * layer.i.attention.output [B, T, C], which is that of the heads before their projection;
 * layer.i.output [B, T, C]; pre_logits [B, C], what a classifier reads; of CLIP token_embeds [B, T,
 * E], which is what image_embeds is of CLS, of every token. A pooling attention, whose query is one
 * learned token, has pool.query [B, H, 1, D]; pool.key, .value [B, H, N, D]; pool.attention.weights
 * and .logits [B, H, 1, N]; pool.attention.output [B, 1, C]. N is the patches, or all tokens where
 * it attends to those. Query and key are those that attention takes: after their norms and after
 * rotary positions, where the model has them.
 *
 * With classes_only and without intervene, R rows replace the T rows of the last layer's attention
 * and output and of last_hidden_state. The rows are CLS and, where it is read, the distillation
 * token. The numbers are bit-identical.
 *
 * A text tower has the input input_ids I32 [B, T], T = source_length. Its outputs are
 * last_hidden_state [B, T, C], after the final norm, and where there is a projection token_embeds
 * [B, T, E], that of every token. heed_text_row is the row of the text: of token_embeds its
 * text_embeds, not normalised. The taps are those of a vision transformer.
 *
 * An encoder-decoder has the input source_tokens I32 [B, S] or source_features F32 [B, S, F]. The
 * whole also has target_tokens I32 [B, T]. A step has token and position I32 [B, 1], seen U8 [B,
 * T + 1], and what heed_decoder writes. The output is logits [B, T or 1, target vocabulary]. The
 * encoder outputs memory [B, S, C] and the inputs of a step that have the same name.
 *
 * These values can be tapped: encoder.i.self.weights [B, H, S, S], decoder.i.self.weights [B, H, T,
 * T], decoder.i.cross.weights [B, H, T, S], and the same with .logits; encoder.i.output,
 * decoder.i.output. A recurrent model has decoder.0.cross.weights alone, with H = 1. In a step
 * there is one row, and self.weights has T + 1 columns, the last one for the token itself.
 *
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_model_build(const heed_model *model,
                                                     const heed_build_desc *desc,
                                                     heed_graph **graph, heed_error *error);

/* EXPERIMENTAL: may change. What a layer of a vision transformer is, and where its tokens lie:
 * those before the patches, then the patches by frame, row and column, so that T is prefix_tokens
 * plus frames rows columns. */
typedef struct heed_layer_info {
  uint32_t width, heads; /* C, H */
  uint32_t prefix_tokens, frames, rows, columns;
  uint32_t patch;   /* the side of a patch in pixels of pixel_values */
  uint32_t tubelet; /* the frames of pixel_values in a patch: 1 of a picture */
  /* Attention by windows of window x window patches (Swin): queries, keys, values, weights and
   * logits have [B down across, H, n, n], n = window window, in the place of [B, H, T, T]. The grid
   * is filled up to whole windows and rolled by shift: place y, x of it is row (y + shift) mod
   * (down window), and so for columns. 0: there are none. */
  uint32_t window, shift, down, across;
} heed_layer_info;
/* That of a layer in the graph that heed_model_build makes of desc; NULL = defaults. Statuses:
 * INVALID_ARGUMENT. */
HEED_NODISCARD HEED_API heed_status heed_model_layer(const heed_model *model,
                                                     const heed_build_desc *desc, uint32_t layer,
                                                     heed_layer_info *info, heed_error *error);
/* EXPERIMENTAL: may change. row [T]: the weights of one query and head over all tokens of a layer
 * with windows, 0 outside of the query's own, of one picture's weights [down across, H, n, n]. What
 * they give to places beyond the grid is left out. Of a layer without: the row of [H, T, T]. */
HEED_API void heed_window_row(const heed_layer_info *layer, const float *weights, uint32_t head,
                              uint32_t query, float *row);

/* EXPERIMENTAL: may change. The values that can be tapped, for those who would rather not write
 * their names, which stand at heed_model_build. A layer is that of the name. */
typedef enum heed_tap {
  HEED_TAP_EMBEDDINGS = 0, /* [B, T, C] before the first layer */
  HEED_TAP_QUERY = 1,      /* [B, H, T, D] */
  HEED_TAP_KEY = 2,        /* [B, H, T, D] */
  HEED_TAP_VALUE = 3,      /* [B, H, T, Dv] */
  HEED_TAP_WEIGHTS = 4,    /* layer.i.attention.weights [B, H, T, T] */
  HEED_TAP_SCORES = 5,     /* layer.i.attention.logits [B, H, T, T] */
  HEED_TAP_HEADS = 6,      /* layer.i.attention.output [B, T, C], before the projection */
  HEED_TAP_OUTPUT = 7,     /* layer.i.output [B, T, C] */
  HEED_TAP_POOL_QUERY = 8, /* of a pooling attention, which has no layer */
  HEED_TAP_POOL_KEY = 9,
  HEED_TAP_POOL_VALUE = 10,
  HEED_TAP_POOL_WEIGHTS = 11,
  HEED_TAP_POOL_SCORES = 12,
  HEED_TAP_POOL_HEADS = 13,
  HEED_TAP_ENCODER_WEIGHTS = 14, /* of an encoder-decoder: encoder.i.self.weights */
  HEED_TAP_ENCODER_SCORES = 15,
  HEED_TAP_ENCODER_OUTPUT = 16,
  HEED_TAP_DECODER_WEIGHTS = 17, /* decoder.i.self.weights */
  HEED_TAP_DECODER_SCORES = 18,
  HEED_TAP_CROSS_WEIGHTS = 19, /* decoder.i.cross.weights */
  HEED_TAP_CROSS_SCORES = 20,
  HEED_TAP_DECODER_OUTPUT = 21
} heed_tap;
#define HEED_TAP_COUNT 22
#define HEED_TAP_NAME_SIZE 48
/* Writes the name of a tap and returns it; "" of an unknown one. */
HEED_API const char *heed_tap_name(heed_tap tap, uint32_t layer, char name[HEED_TAP_NAME_SIZE]);
/* The value of that name in a graph of heed_model_build; id 0: the graph has none. */
HEED_API heed_value heed_graph_tap(const heed_graph *graph, heed_tap tap, uint32_t layer);

/* --------------------------------------------------------------------------------------- images */

/* How the samples of a decoded image are stored. */
typedef enum heed_samples {
  HEED_SAMPLES_U8 = 0,
  HEED_SAMPLES_U16 = 1, /* uint16_t of this machine's byte order; white is 65535 */
  HEED_SAMPLES_F32 =
      2 /* floats, in the unit of mean and std: heed_preprocess.rescale is not used */
} heed_samples;

/* A decoded image [height, width, channels], rows `stride` bytes apart. A model of three channels
 * takes 1, 3 and, of 8 bits, 4: grey is spread over the colours, and alpha is dropped, as Pillow's
 * convert("RGB") does. A model of one takes 1, and of 8 bits 3 and 4, which become grey as
 * Pillow's convert("L") makes it. Other models take as many as they have. */
typedef struct heed_image {
  const uint8_t *pixels; /* the first byte, whatever the samples */
  uint32_t width, height, channels;
  size_t stride;
  heed_samples samples;
} heed_image;

typedef enum heed_resize_mode {
  HEED_RESIZE_NONE = 0,
  HEED_RESIZE_SQUASH = 1,     /* to width x height exactly */
  HEED_RESIZE_SHORT_SIDE = 2, /* short side to `short_side`, aspect kept */
  /* as large as fits into width x height, aspect kept; a crop of that size is filled with the mean
   * colour */
  HEED_RESIZE_WHOLE = 3,
  HEED_RESIZE_COVER = 4, /* as small as covers width x height, aspect kept */
  /* by the one of both scales to width x height that is nearer to 1; then each side to the nearest
   * multiple of `multiple` */
  HEED_RESIZE_MULTIPLES = 5,
  /* as large as fits into width x height, aspect kept, at its top and left; what a crop of that
   * size has besides is grey, 0.5 */
  HEED_RESIZE_CORNER = 6,
  /* the long side to at most `width` or `height`, aspect kept, and no side below `short_side` */
  HEED_RESIZE_WITHIN = 7,
  /* as large as `patches` squares of `multiple` pixels allow, both sides multiples of it, aspect
   * kept but for their rounding */
  HEED_RESIZE_PATCHES = 8,
  /* both sides to multiples of `multiple`, aspect kept but for their rounding, with `least_pixels`
   * to `most_pixels` in all */
  HEED_RESIZE_PIXELS = 9,
  /* the long side to at most `width`, aspect kept, then both up to multiples of `multiple` */
  HEED_RESIZE_TILES = 10,
  /* as HEED_RESIZE_CORNER, but what the crop has besides is the mean colour */
  HEED_RESIZE_CORNER_MEAN = 11
} heed_resize_mode;

/* Where a centre crop lies in a picture with `rest` pixels more than the crop. */
typedef enum heed_crop_rule {
  /* transformers: rest / 2, rounded down; around a picture that is smaller the odd row or column of
   * zeros comes first */
  HEED_CROP_DOWN = 0,
  /* torchvision, and so timm and open_clip: rest / 2 to the nearest, half to even; the odd row or
   * column of zeros comes last */
  HEED_CROP_EVEN = 1
} heed_crop_rule;

/* The most channels of an image that heed prepares. */
#define HEED_MOST_CHANNELS 256

/* Preprocessing as preprocessor_config.json describes it. */
typedef struct heed_preprocess {
  heed_resize_mode resize;
  uint32_t width, height, short_side;
  /* Pillow's numbers: 0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box, 5 hamming */
  uint32_t resample;
  uint32_t crop_width, crop_height; /* centre crop; 0 = none */
  float rescale; /* factor, 1/255 of 8-bit samples; those of 16 bits take a 257th of it */
  /* (x rescale - mean) / std, [channels] */
  float mean[HEED_MOST_CHANNELS], std[HEED_MOST_CHANNELS];
  heed_crop_rule crop_rule; /* of the centre crop */
  /* of HEED_RESIZE_MULTIPLES, _PATCHES, _PIXELS and _TILES, in pixels; at least 1 */
  uint32_t multiple;
  uint32_t channels;                  /* of pixel_values, at most HEED_MOST_CHANNELS; 0 = 3 */
  uint32_t patches;                   /* of HEED_RESIZE_PATCHES, at most; at least 1 */
  uint32_t least_pixels, most_pixels; /* of HEED_RESIZE_PIXELS; at least 1 */
} heed_preprocess;
/* Whether heed prepares images for the model. A model opens also where its files ask for steps that
 * heed has not: heed_model_build and pixel_values of one's own need none. Then the status is
 * UNSUPPORTED or INVALID_FILE, and the sentence names the file and the step. */
HEED_NODISCARD HEED_API heed_status heed_model_prepares(const heed_model *model, heed_error *error);
/* The model's own preprocessing; all 0 for an encoder-decoder, and where heed_model_prepares fails.
 */
HEED_API void heed_model_preprocess(const heed_model *model, heed_preprocess *preprocess);

/* The model's preprocessing for pixel_values of height x width pixels, multiples of the patch.
 * Where the model's own gives that size, it stays. Otherwise the image is resized, aspect kept,
 * until it covers that size, and the centre is cropped. heed_model_build refuses a size for which a
 * bias of relative positions would take more than 2 GiB. Statuses: INVALID_ARGUMENT, UNSUPPORTED
 * (an encoder-decoder), those of heed_model_prepares. */
HEED_NODISCARD HEED_API heed_status heed_model_preprocess_at(const heed_model *model,
                                                             uint32_t height, uint32_t width,
                                                             heed_preprocess *preprocess,
                                                             heed_error *error);

/* Changes preprocess to letterbox: the whole image, aspect kept, centred on the mean colour, which
 * is 0 in pixel_values. Models are not trained this way. Nothing changes where nothing is cropped
 * and the aspect is kept anyway. */
HEED_API void heed_preprocess_fit_whole(heed_preprocess *preprocess);

/* What replaces parts of a model's preprocessing, where its files say too little or another thing.
 * Zero leaves a part as it is. */
typedef struct heed_preprocess_options {
  size_t struct_size;
  /* A number for all channels, or one for each. They are of samples after rescaling: 0 to 1. */
  const float *mean, *std;
  uint32_t mean_count, std_count;
  const char *resample; /* "nearest", "lanczos", "bilinear", "bicubic", "box" or "hamming" */
  /* The share of the resized image's sides that the centre crop keeps, 0.01 to 1: timm's crop_pct.
   * The aspect is kept, and the size of pixel_values stays. */
  double crop;
  bool squash;   /* in the place of a crop: the whole image, its aspect not kept */
  float rescale; /* factor of 8-bit samples */
} heed_preprocess_options;
/* Changes preprocess, which is that of a model and a size: heed_model_preprocess or
 * heed_model_preprocess_at. After an error it is as it was. Statuses: INVALID_ARGUMENT. */
HEED_NODISCARD HEED_API heed_status heed_preprocess_change(heed_preprocess *preprocess,
                                                           const heed_preprocess_options *options,
                                                           heed_error *error);

/* The part of the image that the model receives, in pixels of the image. It may be fractional, and
 * may lie outside for a padded crop. */
typedef struct heed_region {
  double x, y, width, height;
} heed_region;

/* The size of pixel_values for an image of this size. Statuses: INVALID_ARGUMENT. */
HEED_NODISCARD HEED_API heed_status heed_preprocess_size(const heed_preprocess *preprocess,
                                                         uint32_t width, uint32_t height,
                                                         uint32_t *out_width, uint32_t *out_height,
                                                         heed_error *error);
/* image -> pixel_values [channels, out_height, out_width]: Pillow's resize, on 8-bit samples bit
 * for bit and on others as of its mode F, then rescale and normalise. region (nullable) is the part
 * that the model receives. Statuses: INVALID_ARGUMENT (also channels that the model has not),
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_preprocess_image(heed_context *context,
                                                          const heed_preprocess *preprocess,
                                                          const heed_image *image,
                                                          float *pixel_values, heed_region *region,
                                                          heed_error *error);

#ifdef __cplusplus
}
#endif

#endif
