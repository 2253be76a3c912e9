/* The graph of an ONNX file as a heed_model: a vision transformer of which no config.json names a
 * family. See heed/onnx.h, vision.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "graph/graph.h"
#include "model/config/unknown_family.h"
#include "model/files/model_type.h"
#include "model/files/source.h"
#include "model/image/preprocess.h"
#include "onnx/file/file.h"
#include "onnx/lower/lower.h"
#include "onnx/vision/vision.h"

#define NAME_SIZE 24
#define OTHER_SIDE 224 /* where nothing tells the size of images */
#define MOST_GRID 256u /* patches of a side that positions are looked at for */

typedef struct vision_model {
  heed_model base;
  heed_onnx *file;
  heed_config *config;    /* the files' JSON alone */
  uint32_t height, width; /* that were asked for; 0: not */
  heed_vision vision;     /* at the model's own size */
  char assumed[400], in_double[200];
  char (*class_names)[NAME_SIZE];
  char (*tokens)[NAME_SIZE];
  const char **token_names; /* [prefix_tokens] */
} vision_model;

/* ----------------------------------------------------------------------------------------- size */

/* The input that is an image, in the order of the file; false: none is. Sets what other input there
 * is, or NULL. */
static bool find_image(const heed_onnx *file, heed_onnx_port *image, const char **other) {
  heed_onnx_port port;
  bool found = false;
  *other = NULL;
  for (uint32_t i = 0; heed_onnx_takes(file, i, &port); i++) {
    if (found || !port.shaped || port.rank != 4) {
      *other = port.name;
      continue;
    }
    *image = port;
    if (heed_onnx_channels_last(port.rank, port.dim)) {
      image->dim[1] = port.dim[3];
      image->dim[2] = port.dim[1];
      image->dim[3] = port.dim[2];
    }
    found = true;
  }
  return found;
}

static heed_onnx_lower_desc of_size(uint32_t batch, uint32_t height, uint32_t width) {
  return (heed_onnx_lower_desc){.struct_size = sizeof(heed_onnx_lower_desc),
                                .batch = batch,
                                .height = height,
                                .width = width,
                                .picture = true,
                                .parts = true};
}

/* Lowers. A sentence about a node without a kernel gets the way out: the graph runs in double. */
static heed_status lower(const vision_model *model, const heed_onnx_lower_desc *desc,
                         heed_onnx_lowered **lowered, heed_error *error) {
  const heed_status status = heed_onnx_lower(model->file, desc, lowered, error);
  if (status == HEED_UNSUPPORTED && error && strstr(error->message, "has no kernel") &&
      !heed_onnx_missing_op(model->file, 0)) {
    const size_t at = strlen(error->message);
    snprintf(error->message + at, sizeof error->message - at, "; heed eval runs the graph");
  }
  return status;
}

static heed_status try_size(const vision_model *model, uint32_t batch, uint32_t height,
                            uint32_t width, heed_onnx_lowered **lowered, heed_vision *vision,
                            heed_error *error) {
  const heed_onnx_lower_desc desc = of_size(batch, height, width);
  HEED_TRY(lower(model, &desc, lowered, error));
  const heed_status status = heed_vision_find(
      model->file, *lowered, heed_unnamed_stage(model->config), NULL, vision, error);
  if (status == HEED_OK) return HEED_OK;
  heed_onnx_lowered_destroy(*lowered);
  *lowered = NULL;
  return status;
}

static heed_status try_own(vision_model *model, uint32_t height, uint32_t width,
                           heed_error *error) {
  heed_onnx_lowered *lowered = NULL;
  const heed_status status = try_size(model, 1, height, width, &lowered, &model->vision, error);
  if (status == HEED_OK)
    heed_onnx_lowered_in_double(lowered, model->in_double, sizeof model->in_double);
  heed_onnx_lowered_destroy(lowered);
  return status;
}

/* Whether status is about the graph at this size, so that another may serve. */
static bool may_differ(heed_status status) {
  return status == HEED_UNSUPPORTED || status == HEED_INVALID_FILE;
}

/* The kernel of the first convolution of an image, [C, channels, P, P]; NULL: there is none. */
static const heed_onnx_tensor *find_kernel(const heed_onnx *file, int64_t channels) {
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t n = 0; n < graph->node_count; n++) {
    const heed_onnx_node *node = &graph->nodes[n];
    if (strcmp(node->op, "Conv") != 0 || node->input_count < 2) continue;
    const heed_onnx_tensor *kernel = heed_onnx_tensor_of(file, node->in[1]);
    return kernel && kernel->rank == 4 && kernel->dims[1] == (uint64_t)channels &&
                   kernel->dims[2] == kernel->dims[3]
               ? kernel
               : NULL;
  }
  return NULL;
}

/* The sides for which a table of positions, [T, C] or [1, T, C], has a row for each patch and for
 * few tokens before them. */
static heed_status try_positions(vision_model *model, const heed_onnx_port *image,
                                 heed_error *error) {
  const heed_onnx_graph *graph = &model->file->model.graph;
  const heed_onnx_tensor *kernel = find_kernel(model->file, image->dim[1] > 0 ? image->dim[1] : 3);
  bool tried[MOST_GRID + 1] = {false}; /* a file may have any number of tables */
  heed_error other;
  for (uint32_t i = 0; kernel && i < graph->initializer_count; i++) {
    const heed_onnx_tensor *table = &graph->initializers[i];
    if (table->rank < 2 || table->rank > 3 || table->dims[table->rank - 1] != kernel->dims[0] ||
        (table->rank == 3 && table->dims[0] != 1))
      continue;
    const uint64_t rows = table->dims[table->rank - 2];
    for (uint64_t side = 2; side <= MOST_GRID && side * side <= rows; side++) {
      if (rows - side * side > 5 || tried[side]) continue;
      tried[side] = true;
      const uint32_t pixels = (uint32_t)(side * kernel->dims[2]);
      const heed_status status = try_own(model, pixels, pixels, &other);
      if (!may_differ(status)) {
        if (status != HEED_OK && error) *error = other;
        return status;
      }
    }
  }
  return HEED_UNSUPPORTED; /* the sentence is that of the size before */
}

/* The model at the size that the file, the caller, its config or its positions name. */
static heed_status find_size(vision_model *model, const heed_onnx_port *image, heed_error *error) {
  const uint32_t said = heed_unnamed_side(model->config), side = said ? said : OTHER_SIDE;
  const bool open = image->dim[2] < 0 || image->dim[3] < 0, asked = model->height != 0;
  heed_error why;
  heed_status status =
      asked ? try_own(model, model->height, model->width, &why) : try_own(model, side, side, &why);
  const bool guessed = open && !asked && !said;
  if (guessed && may_differ(status)) status = try_positions(model, image, &why);
  if (status == HEED_OK && guessed)
    snprintf(model->assumed, sizeof model->assumed, "images of %u x %u pixels",
             model->vision.height, model->vision.width);
  if (guessed && may_differ(status))
    return heed_fail(error, status,
                     "%.360s (with images of %u x %u pixels; --size asks for others)", why.message,
                     side, side);
  if (status != HEED_OK && error) *error = why;
  return status;
}

/* ----------------------------------------------------------------------------------------- info */

static heed_status name_all(vision_model *model, heed_error *error) {
  const heed_context *context = model->base.context;
  const uint32_t classes = model->vision.classes, prefix = model->vision.prefix_tokens;
  model->class_names = heed_alloc(context, classes + 1u, sizeof *model->class_names);
  model->tokens = heed_alloc(context, prefix + 1u, sizeof *model->tokens);
  model->token_names = heed_alloc(context, prefix + 1u, sizeof *model->token_names);
  if (!model->class_names || !model->tokens || !model->token_names)
    return heed_fail_memory(error, model->file->name, (size_t)classes * NAME_SIZE);
  for (uint32_t i = 0; i < classes; i++) snprintf(model->class_names[i], NAME_SIZE, "class %u", i);
  for (uint32_t i = 0; i < prefix; i++) {
    snprintf(model->tokens[i], NAME_SIZE, i ? "token %u" : "CLS", i);
    model->token_names[i] = model->tokens[i];
  }
  return HEED_OK;
}

static void fill_info(vision_model *model) {
  const heed_vision *vision = &model->vision;
  const size_t length = strlen(model->assumed);
  heed_unnamed_assumed(model->config, vision->range, vision->order, length ? "; " : "",
                       model->assumed + length, sizeof model->assumed - length);
  const size_t end = strlen(model->assumed);
  if (vision->mixed)
    snprintf(model->assumed + end, sizeof model->assumed - end,
             "%smaps of the softmax (the graph mixes its heads behind it)", end ? "; " : "");
  const size_t mixed = strlen(model->assumed);
  if (vision->stages > 1 && !vision->stage)
    snprintf(model->assumed + mixed, sizeof model->assumed - mixed,
             "%sthe first of %u stages (--hints stage=2 takes the next)", mixed ? "; " : "",
             vision->stages);
  model->base.info = (heed_model_info){.kind = HEED_MODEL_VISION,
                                       .family = "ONNX graph",
                                       .image_size = vision->height,
                                       .channels = vision->channels,
                                       .patch = vision->patch,
                                       .width = vision->states,
                                       .layers = vision->layers,
                                       .heads = vision->heads,
                                       .prefix_tokens = vision->prefix_tokens,
                                       .token_names = model->token_names,
                                       .pool_heads = vision->pool_heads,
                                       .classes = vision->classes,
                                       .positions = "as the ONNX graph has them",
                                       .rules = "as the ONNX graph has them",
                                       .assumed = *model->assumed ? model->assumed : NULL,
                                       .parameters = vision->parameters,
                                       .weight_bytes = heed_onnx_source(model->file).size,
                                       .tensors_used = model->file->weight_count};
}

/* heed_model_desc's files are those beside the ONNX file. */
static heed_status open_model(heed_model *base, const heed_model_desc *desc, heed_error *error) {
  vision_model *model = (vision_model *)base;
  heed_onnx_port image = {0};
  const char *other;
  if (!find_image(model->file, &image, &other) || other)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: no vision transformer (found %s%.60s, expected the input [B, C, H, W] "
                     "alone; heed eval runs the graph)",
                     model->file->name, other ? "the input " : "no input", other ? other : "");
  HEED_TRY(heed_unnamed_open(base->context, desc->files, desc->file_count, &model->config, error));
  HEED_TRY(find_size(model, &image, error));
  HEED_TRY(name_all(model, error));
  fill_info(model);
  const heed_vision *vision = &model->vision;
  heed_error why;
  const bool prepares = heed_model_keep_preprocess(
      base,
      heed_unnamed_preprocess(model->config, vision->height, vision->channels, vision->range,
                              &base->preprocess, &why),
      &why);
  if (prepares && (image.dim[2] >= 0 || image.dim[3] >= 0 || !model->config->processor))
    heed_preprocess_cover(&base->preprocess, vision->height, vision->width);
  return HEED_OK;
}

static void close_model(heed_model *base) {
  vision_model *model = (vision_model *)base;
  if (model->config) heed_config_destroy(model->config);
  heed_free(base->context, model->class_names);
  heed_free(base->context, model->tokens);
  heed_free(base->context, model->token_names);
}

/* ---------------------------------------------------------------------------------------- graph */

static heed_status check_built(const vision_model *model, const heed_vision *built, uint32_t batch,
                               uint32_t height, uint32_t width, heed_error *error) {
  const heed_vision *own = &model->vision;
  if (built->batch != batch || built->height != height || built->width != width)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "%s: the graph takes batches of %u and images of %u x %u pixels alone (found %u, %u "
        "x %u)",
        model->file->name, built->batch, built->height, built->width, batch, height, width);
  if (built->layers == own->layers && built->heads == own->heads && built->patch == own->patch &&
      built->prefix_tokens == own->prefix_tokens && built->classes == own->classes &&
      built->pool_heads == own->pool_heads && built->each_class == own->each_class)
    return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: another model for %u x %u pixels (found %u layers of %u heads, expected %u "
                   "of %u)",
                   model->file->name, height, width, built->layers, built->heads, own->layers,
                   own->heads);
}

/* Takes *lowered, and gives the graph with what `desc` changes. */
static heed_status change(const vision_model *model, const heed_build_desc *desc,
                          heed_vision *vision, heed_onnx_lowered **lowered, heed_error *error) {
  const heed_onnx_lower_desc lower = of_size(vision->batch, vision->height, vision->width);
  heed_onnx_lowered *plain = *lowered;
  const heed_status status = heed_vision_change(
      model->file, &lower, desc, heed_onnx_lowered_graph(plain), vision, lowered, error);
  heed_onnx_lowered_destroy(plain);
  return status;
}

static heed_status build_model(const heed_model *base, const heed_build_desc *desc,
                               heed_graph **graph, heed_error *error) {
  const vision_model *model = (const vision_model *)base;
  const uint32_t height = desc->height ? desc->height : model->vision.height,
                 width = desc->width ? desc->width : model->vision.width;
  heed_onnx_lowered *lowered = NULL;
  heed_vision vision;
  HEED_TRY(try_size(model, desc->batch, height, width, &lowered, &vision, error));
  heed_status status = check_built(model, &vision, desc->batch, height, width, error);
  if (status == HEED_OK && heed_vision_changes(desc))
    status = change(model, desc, &vision, &lowered, error);
  heed_graph *made = status == HEED_OK ? heed_onnx_lowered_graph(lowered) : NULL;
  if (made) {
    heed_graph_name(made, (heed_value){vision.image}, "pixel_values");
    status = heed_graph_status(made, error);
  }
  if (status != HEED_OK) {
    heed_onnx_lowered_destroy(lowered);
    return status;
  }
  *graph = heed_onnx_lowered_release(lowered);
  return HEED_OK;
}

static const char *label_of(const heed_model *base, uint32_t index) {
  const vision_model *model = (const vision_model *)base;
  const char *label = heed_unnamed_label(model->config, index);
  return label || index >= model->vision.classes ? label : model->class_names[index];
}

static const heed_model_type vision_type = {sizeof(vision_model), open_model, close_model,
                                            build_model, label_of};

bool heed_onnx_each_class(const heed_model *model) {
  return model && model->type == &vision_type && ((const vision_model *)model)->vision.each_class;
}

const char *heed_onnx_in_double(const heed_model *model) {
  return model && model->type == &vision_type ? ((const vision_model *)model)->in_double : "";
}

heed_status heed_onnx_vision(heed_onnx *file, const heed_model_desc *desc, uint32_t height,
                             uint32_t width, heed_model **model, heed_error *error) {
  heed_model_desc full;
  if (!file || !desc || !model)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "onnx: NULL argument (expected file, desc and model)");
  *model = NULL;
  if (!height != !width)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "onnx: one side of the images without the other (found height %u, width %u)",
                     (unsigned)height, (unsigned)width);
  HEED_TRY(heed_model_desc_read(&full, desc, error));
  HEED_TRY(heed_model_make((heed_context *)file->context, &vision_type, model, error));
  vision_model *made = (vision_model *)*model;
  made->file = file;
  made->height = height;
  made->width = width;
  const heed_status status = open_model(*model, &full, error);
  if (status != HEED_OK) {
    heed_model_destroy(*model);
    *model = NULL;
  }
  return status;
}
