/* Values of a model by their names. See features.h. */
#include "features.h"

#include <stdlib.h>
#include <string.h>

#define STATES "last_hidden_state"

/* What "embedding" stands for, the first that is there. */
static const char *const embeddings[] = {"image_embeds", "pooler_output", "pre_logits", "cls",
                                         "mean"};
#define EMBEDDINGS (sizeof embeddings / sizeof *embeddings)

const char *cli_embedding_name(const char *source) {
  for (size_t i = 0; i < EMBEDDINGS; i++)
    if (strcmp(embeddings[i], source) == 0) return embeddings[i];
  return "embedding";
}

/* Whether the whole text is as the pattern has it, in which * stands for any letters. */
static bool fits(const char *pattern, const char *text) {
  const char *star = NULL, *from = NULL; /* where to go on after the last * */
  while (*text) {
    if (*pattern == '*') {
      star = ++pattern;
      from = text;
    } else if (*pattern == *text) {
      pattern++;
      text++;
    } else if (star) {
      pattern = star;
      text = ++from;
    } else {
      return false;
    }
  }
  return pattern[strspn(pattern, "*")] == '\0';
}

/* A name of the list at *at, whose length is *length; false after the last. */
static bool next_name(const char **at, size_t *length) {
  if (!**at) return false;
  *length = strcspn(*at, ",");
  return true;
}

bool cli_features_of_classes(const cli_features *features) {
  static const char *const narrow[] = {"embedding",     "cls",        "image_embeds",
                                       "pooler_output", "pre_logits", "logits"};
  size_t length;
  for (const char *at = features->names; next_name(&at, &length);
       at += length + (at[length] == ',')) {
    size_t i = 0;
    while (i < sizeof narrow / sizeof *narrow &&
           (strlen(narrow[i]) != length || strncmp(narrow[i], at, length) != 0))
      i++;
    if (i == sizeof narrow / sizeof *narrow) return false;
  }
  return true;
}

bool cli_features_have_maps(const cli_features *features) {
  return strpbrk(features->names, "*?[") || strstr(features->names, "attention");
}

/* Whether this is a value of floats for each picture. */
static bool is_feature(const cli_pipeline *pipeline, const heed_value_info *info) {
  const uint32_t batch = pipeline->build.batch ? pipeline->build.batch : 1;
  return info->name[0] && !info->is_constant && !info->is_input && info->dtype == HEED_F32 &&
         info->shape.rank >= 2 && info->shape.dim[0] == batch;
}

/* "layer.3.attention.weights" is attention.3 in files, and the rest has its own name. */
static void file_name(const char *name, char to[64]) {
  unsigned layer;
  int end = 0;
  if (sscanf(name, "layer.%u.attention.weights%n", &layer, &end) == 1 && end && !name[end])
    snprintf(to, 64, "attention.%u", layer);
  else
    snprintf(to, 64, "%s", name);
}

static bool has_feature(const cli_features *features, const char *name) {
  for (uint32_t i = 0; i < features->count; i++)
    if (strcmp(features->feature[i].name, name) == 0) return true;
  return false;
}

static heed_status add(cli_state *cli, cli_features *features, const char *name, const char *source,
                       cli_feature_kind kind, const heed_shape *shape) {
  if (has_feature(features, name)) return HEED_OK;
  cli_feature *grown = realloc(features->feature, (features->count + 1u) * sizeof *grown);
  if (!grown) return heed_fail_memory(&cli->error, features->option, sizeof *grown);
  features->feature = grown;
  cli_feature *to = &grown[features->count++];
  *to = (cli_feature){.source = source, .kind = kind};
  snprintf(to->name, sizeof to->name, "%s", name);
  to->shape.rank = kind == CLI_FEATURE_WHOLE ? shape->rank - 1 : 1;
  for (uint32_t d = 0; d < to->shape.rank; d++)
    to->shape.dim[d] = shape->dim[shape->rank - to->shape.rank + d];
  return HEED_OK;
}

/* cls or mean, where the model has it. */
static heed_status add_of_states(cli_state *cli, const cli_pipeline *pipeline,
                                 cli_features *features, const char *name, const char *as,
                                 bool *found) {
  heed_value value;
  heed_value_info info;
  const heed_model_info *model = &pipeline->info;
  const bool is_class = strcmp(name, "cls") == 0;
  if (pipeline->as_graph || !cli_pipeline_find(pipeline, STATES, &value, &info) ||
      info.shape.rank != 3 ||
      (is_class && (!model->prefix_tokens || strcmp(model->token_names[0], "CLS") != 0)))
    return HEED_OK;
  *found = true;
  return add(cli, features, as, STATES, is_class ? CLI_FEATURE_CLS : CLI_FEATURE_MEAN, &info.shape);
}

/* Every value that the pattern fits. */
static heed_status add_matches(cli_state *cli, const cli_pipeline *pipeline, cli_features *features,
                               const char *pattern, bool *found) {
  static const char *const made[] = {"cls", "mean"};
  for (size_t i = 0; i < 2; i++)
    if (fits(pattern, made[i]))
      CLI_TRY(add_of_states(cli, pipeline, features, made[i], made[i], found));
  for (uint32_t id = 1; id <= heed_graph_value_count(pipeline->graph); id++) {
    heed_value_info info;
    char name[64];
    if (heed_graph_value_info(pipeline->graph, (heed_value){id}, &info) != HEED_OK ||
        !is_feature(pipeline, &info))
      continue;
    file_name(info.name, name);
    if (!fits(pattern, info.name) && !fits(pattern, name)) continue;
    *found = true;
    CLI_TRY(add(cli, features, name, info.name, CLI_FEATURE_WHOLE, &info.shape));
  }
  return HEED_OK;
}

static heed_status add_embedding(cli_state *cli, const cli_pipeline *pipeline,
                                 cli_features *features, bool *found) {
  for (size_t i = 0; i < EMBEDDINGS && !*found; i++) {
    heed_value value;
    heed_value_info info;
    if (strcmp(embeddings[i], "cls") == 0 || strcmp(embeddings[i], "mean") == 0) {
      CLI_TRY(add_of_states(cli, pipeline, features, embeddings[i], "embedding", found));
    } else if (cli_pipeline_find(pipeline, embeddings[i], &value, &info) &&
               is_feature(pipeline, &info)) {
      *found = true;
      CLI_TRY(add(cli, features, "embedding", info.name, CLI_FEATURE_WHOLE, &info.shape));
    }
  }
  return HEED_OK;
}

static heed_status refuse(cli_state *cli, const cli_pipeline *pipeline,
                          const cli_features *features, const char *name) {
  char known[256] = "";
  size_t used = 0;
  for (uint32_t id = 1; id <= heed_graph_value_count(pipeline->graph); id++) {
    heed_value_info info;
    if (heed_graph_value_info(pipeline->graph, (heed_value){id}, &info) == HEED_OK &&
        info.is_output && is_feature(pipeline, &info) &&
        used + strlen(info.name) + 3 < sizeof known)
      used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", info.name);
  }
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "%s: unknown value (found \"%.100s\", expected %scls, mean, attention.N or "
                   "another that heed inspect --graph json lists)",
                   features->option, name, known);
}

static heed_status find_features(cli_state *cli, const cli_pipeline *pipeline,
                                 cli_features *features) {
  size_t length;
  for (const char *at = features->names; next_name(&at, &length);
       at += length + (at[length] == ',')) {
    char pattern[128];
    bool found = false;
    snprintf(pattern, sizeof pattern, "%.*s", (int)(length < 127 ? length : 127), at);
    if (strcmp(pattern, "embedding") == 0)
      CLI_TRY(add_embedding(cli, pipeline, features, &found));
    else
      CLI_TRY(add_matches(cli, pipeline, features, pattern, &found));
    if (!found) return refuse(cli, pipeline, features, pattern);
  }
  return features->count ? HEED_OK : refuse(cli, pipeline, features, "");
}

heed_status cli_features_choose(cli_state *cli, cli_pipeline *pipeline, void *user) {
  cli_features *features = user;
  cli_features_free(features);
  if (features->names) CLI_TRY(find_features(cli, pipeline, features));
  const size_t most = (size_t)features->own_count + features->count;
  features->taps = calloc(most + 1, sizeof *features->taps);
  if (!features->taps)
    return heed_fail_memory(&cli->error, features->option, most * sizeof(char *));
  uint32_t count = features->own_count;
  if (count) memcpy(features->taps, features->own, count * sizeof *features->taps);
  for (uint32_t i = 0; i < features->count; i++) {
    uint32_t k = 0;
    while (k < count && strcmp(features->taps[k], features->feature[i].source) != 0) k++;
    if (k == count) features->taps[count++] = features->feature[i].source;
  }
  pipeline->tap_names = features->taps;
  pipeline->tap_count = count;
  return HEED_OK;
}

/* The mean over the patches of [T, C] states, in double. */
static heed_status read_mean(cli_state *cli, const cli_pipeline *pipeline, heed_value value,
                             const heed_value_info *info, uint32_t index, float *to) {
  const uint32_t tokens = info->shape.dim[1], width = info->shape.dim[2],
                 prefix = pipeline->info.prefix_tokens;
  const size_t count = (size_t)tokens * width;
  float *states = malloc(count * sizeof *states);
  if (!states) return heed_fail_memory(&cli->error, STATES, count * sizeof *states);
  const heed_status status = heed_session_read(pipeline->session, value, (uint64_t)index * count,
                                               count, states, &cli->error);
  for (uint32_t c = 0; c < width && status == HEED_OK; c++) {
    double sum = 0.0;
    for (uint32_t t = prefix; t < tokens; t++) sum += (double)states[(size_t)t * width + c];
    to[c] = (float)(sum / (tokens - prefix));
  }
  free(states);
  return status;
}

heed_status cli_features_read(cli_state *cli, const cli_pipeline *pipeline,
                              const cli_feature *feature, uint32_t index, float *to) {
  heed_value value;
  heed_value_info info;
  if (!cli_pipeline_find(pipeline, feature->source, &value, &info))
    return heed_fail(&cli->error, HEED_INTERNAL, "%s: missing value of the graph", feature->source);
  if (feature->kind == CLI_FEATURE_MEAN) return read_mean(cli, pipeline, value, &info, index, to);
  const uint64_t each = heed_shape_count(&info.shape) / info.shape.dim[0];
  return heed_session_read(pipeline->session, value, index * each,
                           heed_shape_count(&feature->shape), to, &cli->error);
}

void cli_features_free(cli_features *features) {
  free(features->feature);
  free(features->taps);
  features->feature = NULL;
  features->taps = NULL;
  features->count = 0;
}
