/* Encoder-decoder models: opening, which builds the whole once to find every tensor and check its
 * shape. */
#include "sequences/sequence.h"

#include "graph/graph.h"
#include "heed/sequences.h"
#include "model/config/config.h"
#include "model/files/source.h"

/* ------------------------------------------------------------------------------------- building */

static heed_status check_build(const heed_sequence *model, const heed_build_desc *desc,
                               heed_error *error) {
  if ((unsigned)desc->part > HEED_PART_STEP)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: unknown part (found %d, expected 0 to %d)", (int)desc->part,
                     HEED_PART_STEP);
  if (desc->height || desc->width || desc->row_count || desc->intervene || desc->empty_row ||
      desc->temperature != 0.0f || desc->classes_only)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: an encoder-decoder takes a part and lengths alone (found a field of "
                     "vision transformers, expected 0)");
  const uint32_t most = model->config.max_length;
  if (desc->source_length > most || desc->target_length > most)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: invalid length (found source %u and target %u, expected at most %u)",
                     desc->source_length, desc->target_length, most);
  return HEED_OK;
}

static heed_status build_sequence(const heed_model *base, const heed_build_desc *desc,
                                  heed_graph **graph, heed_error *error) {
  const heed_sequence *model = (const heed_sequence *)base;
  const uint32_t most = model->config.max_length;
  HEED_TRY(check_build(model, desc, error));
  heed_graph *made;
  HEED_TRY(heed_graph_create(base->context, &made, error));
  heed_sequence_builder b = {model, made, desc->batch,
                             desc->source_length ? desc->source_length : most,
                             desc->target_length ? desc->target_length : most};
  if (model->config.kind != HEED_SEQUENCE_TRANSFORMER)
    heed_seq2seq_build(&b, desc->part);
  else if (desc->part == HEED_PART_STEP)
    heed_transformer_build_step(&b);
  else
    heed_transformer_build(&b, desc->part);
  const heed_status status = heed_graph_status(made, error);
  if (status == HEED_OK)
    *graph = made;
  else
    heed_graph_destroy(made);
  return status;
}

/* -------------------------------------------------------------------------------------- opening */

heed_status heed_sequence_named(heed_context *context, const heed_model_desc *desc, bool *named,
                                heed_error *error) {
  if (!context || !desc || !named)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: NULL argument (expected context, desc and named)");
  *named = false;
  heed_model_desc full;
  HEED_TRY(heed_model_desc_read(&full, desc, error));
  const heed_model_file *file = heed_find_file(full.files, full.file_count, "config.json");
  if (!file) return HEED_OK;
  heed_json *json = NULL;
  heed_sequence_kind kind;
  const heed_status status = heed_config_read_json(context, file, &json, error);
  if (status == HEED_OK) *named = heed_sequence_find_kind(json, &kind);
  heed_json_destroy(json);
  return status;
}

static heed_status read_config(heed_sequence *model, const heed_model_desc *desc,
                               heed_error *error) {
  heed_json *json = NULL;
  const heed_model_file *file = heed_find_file(desc->files, desc->file_count, "config.json");
  if (!file)
    return heed_fail(error, HEED_INVALID_FILE,
                     "config.json: missing (expected that of an encoder-decoder)");
  heed_status status = heed_config_read_json(model->base.context, file, &json, error);
  if (status == HEED_OK)
    status = heed_sequence_read_config(json, "config.json", &model->config, error);
  heed_json_destroy(json);
  return status;
}

static void fill_info(heed_sequence *model) {
  static const char *const families[] = {"transformer", "lstm", "gru"};
  const heed_sequence_config *config = &model->config;
  heed_checkpoint_totals totals;
  heed_checkpoint_total(model->base.checkpoint, &totals);
  model->base.info = (heed_model_info){.kind = HEED_MODEL_ENCODER_DECODER,
                                       .family = families[config->kind],
                                       .width = config->width,
                                       .layers = config->encoder_layers + config->decoder_layers,
                                       .heads = config->heads,
                                       .mlp_width = config->mlp_width,
                                       .epsilon = config->epsilon,
                                       .activation = config->activation,
                                       .encoder_layers = config->encoder_layers,
                                       .decoder_layers = config->decoder_layers,
                                       .source_vocabulary = config->source_vocabulary,
                                       .features = config->features,
                                       .target_vocabulary = config->target_vocabulary,
                                       .max_length = config->max_length,
                                       .begin = config->begin,
                                       .end = config->end,
                                       .padding = config->padding,
                                       .parameters = totals.elements,
                                       .weight_bytes = totals.bytes,
                                       .tensors_used = totals.used,
                                       .tensors_unused = totals.unused};
}

/* Builds the whole once, which finds every tensor and checks its shape. */
static heed_status open_sequence(heed_model *base, const heed_model_desc *desc, heed_error *error) {
  heed_sequence *model = (heed_sequence *)base;
  HEED_TRY(read_config(model, desc, error));
  HEED_TRY(
      heed_checkpoint_open(base->context, desc->files, desc->file_count, &base->checkpoint, error));
  model->prefix = "";
  if (heed_sequence_has(model, "transformer.encoder.layers.0.linear1.weight"))
    model->prefix = "transformer.";
  const heed_build_desc whole = {
      .struct_size = sizeof whole, .batch = 1, .source_length = 1, .target_length = 1};
  heed_graph *graph;
  HEED_TRY(build_sequence(base, &whole, &graph, error));
  heed_graph_destroy(graph);
  fill_info(model);
  return HEED_OK;
}

heed_status heed_sequence_open(heed_context *context, const heed_model_desc *desc,
                               heed_model **model, heed_error *error) {
  static const heed_model_type type = {sizeof(heed_sequence), open_sequence, NULL, build_sequence};
  return heed_model_open_type(context, &type, desc, model, error);
}
