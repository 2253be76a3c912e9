/* What makes two runs one survey. See identity.h. */
#include "identity.h"

#include <stdlib.h>
#include <string.h>

/* In the file, and in words. */
static const char *const keys[SURVEY_TEXTS + SURVEY_NUMBERS][2] = {
    {"model", "model"},     {"family", "family"},      {"backend", "backend"},
    {"options", "options"}, {"inputs_hash", "images"}, {"layers", "layers"},
    {"heads", "heads"},     {"prefix", "tokens"},      {"rows", "grid"},
    {"columns", "grid"},    {"patch", "patch"},        {"embedding", "embedding"},
    {"inputs", "images"},   {"shards", "shards"},      {"shard", "shard"}};

void survey_identity_free(survey_identity *identity) {
  free(identity->model);
  free(identity->family);
  free(identity->backend);
  free(identity->options);
  *identity = (survey_identity){0};
}

const char *survey_identity_key(int index) { return keys[index][0]; }

const char *survey_identity_text(const survey_identity *of, int index) {
  const char *const texts[SURVEY_TEXTS] = {of->model, of->family, of->backend, of->options,
                                           of->inputs_hash};
  return texts[index];
}

int64_t survey_identity_number(const survey_identity *of, int index) {
  const int64_t numbers[SURVEY_NUMBERS] = {
      of->shape.layers, of->shape.heads,     of->shape.prefix, of->shape.rows, of->shape.columns,
      of->shape.patch,  of->shape.embedding, of->inputs,       of->shards,     of->shard};
  return numbers[index - SURVEY_TEXTS];
}

const char *survey_identity_difference(const survey_identity *a, const survey_identity *b,
                                       bool same_shard) {
  for (int k = 0; k < SURVEY_TEXTS; k++)
    if (strcmp(survey_identity_text(a, k), survey_identity_text(b, k)) != 0) return keys[k][1];
  for (int k = SURVEY_TEXTS; k < SURVEY_TEXTS + SURVEY_NUMBERS - !same_shard; k++)
    if (survey_identity_number(a, k) != survey_identity_number(b, k)) return keys[k][1];
  return NULL;
}
