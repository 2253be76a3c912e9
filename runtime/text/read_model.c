/* The vocabulary and the merges: of tokenizer.json, and CLIP's two files. */
#include "text/read_model.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/config/config.h"
#include "model/files/source.h"

static heed_status add_token(heed_tokenizer *t, const heed_fields *fields, const char *text,
                             size_t length, heed_json_value number) {
  uint64_t id;
  if (!heed_json_u64(fields->json, number, &id) || id >= HEED_TOKEN_MAX)
    return heed_field_fail(fields, "an id of the vocabulary", number, "a number below 1048576");
  if (!heed_vocabulary_add(&t->vocabulary, text, length, (int32_t)id))
    return heed_fail_memory(fields->error, fields->where, length);
  return HEED_OK;
}

heed_status heed_tokenizer_read_vocabulary(heed_tokenizer *t, const heed_fields *fields,
                                           heed_json_value map) {
  const heed_json *json = fields->json;
  if (heed_json_kind_of(json, map) != HEED_JSON_OBJECT)
    return heed_field_fail(fields, "vocab", map, "an object");
  for (heed_json_value v = heed_json_first(json, map); v; v = heed_json_next(json, map, v)) {
    size_t length;
    const char *text = heed_json_key(json, v, &length);
    HEED_TRY(add_token(t, fields, text, length, v));
  }
  return HEED_OK;
}

static heed_status add_merge(heed_tokenizer *t, const char *where, const char *left,
                             size_t left_length, const char *right, size_t right_length,
                             heed_error *error) {
  char joined[1024];
  if (left_length + right_length > sizeof joined)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: merge %zu makes a token that is too long (found %zu bytes, expected at "
                     "most %zu)",
                     where, t->vocabulary.merge_count, left_length + right_length, sizeof joined);
  memcpy(joined, left, left_length);
  memcpy(joined + left_length, right, right_length);
  const heed_merge merge = {heed_vocabulary_id(&t->vocabulary, left, left_length),
                            heed_vocabulary_id(&t->vocabulary, right, right_length),
                            heed_vocabulary_id(&t->vocabulary, joined, left_length + right_length)};
  if (merge.left < 0 || merge.right < 0 || merge.result < 0)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: merge %zu names a token that the vocabulary lacks (found %.*s and %.*s)",
                     where, t->vocabulary.merge_count, (int)(left_length < 200 ? left_length : 200),
                     left, (int)(right_length < 200 ? right_length : 200), right);
  if (t->vocabulary.merge_count == HEED_MERGE_MAX)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: too many merges (expected at most %u)", where,
                     HEED_MERGE_MAX);
  return heed_vocabulary_add_merge(&t->vocabulary, merge)
             ? HEED_OK
             : heed_fail_memory(error, where, sizeof merge);
}

/* "a b": the space between two tokens. */
static heed_status add_spelled(heed_tokenizer *t, const char *where, const char *text,
                               size_t length, heed_error *error) {
  const char *space = memchr(text, ' ', length);
  const size_t left = space ? (size_t)(space - text) : 0;
  if (!left || left + 1 == length || memchr(space + 1, ' ', length - left - 1))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: merge %zu is not valid (found \"%.*s\", expected two tokens with a space "
                     "between them)",
                     where, t->vocabulary.merge_count, (int)(length < 200 ? length : 200), text);
  return add_merge(t, where, text, left, space + 1, length - left - 1, error);
}

/* "a b" or ["a", "b"] */
static heed_status read_merge(heed_tokenizer *t, const heed_fields *fields, heed_json_value value) {
  const heed_json *json = fields->json;
  const heed_json_value first = heed_json_first(json, value);
  const char *left, *right;
  size_t left_length, right_length;
  if (heed_json_string(json, value, &left, &left_length))
    return add_spelled(t, fields->where, left, left_length, fields->error);
  if (heed_json_count(json, value) != 2 || !heed_json_string(json, first, &left, &left_length) ||
      !heed_json_string(json, heed_json_next(json, value, first), &right, &right_length))
    return heed_field_fail(fields, "a merge", value, "two tokens");
  return add_merge(t, fields->where, left, left_length, right, right_length, fields->error);
}

heed_status heed_tokenizer_read_merges(heed_tokenizer *t, const heed_fields *fields,
                                       heed_json_value list) {
  const heed_json *json = fields->json;
  if (heed_json_kind_of(json, list) != HEED_JSON_ARRAY)
    return heed_field_fail(fields, "merges", list, "an array");
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v))
    HEED_TRY(read_merge(t, fields, v));
  return HEED_OK;
}

heed_status heed_tokenizer_sort(heed_tokenizer *t, const char *where, heed_error *error) {
  return heed_vocabulary_sort(&t->vocabulary)
             ? HEED_OK
             : heed_fail_memory(error, where, t->vocabulary.ids * sizeof(uint32_t));
}

/* ----------------------------------------------------------------------------------------- CLIP */

#define MERGES_MAX ((size_t)64 << 20)

/* Lines; the first may name a version. */
static heed_status read_lines(heed_tokenizer *t, const char *where, const char *text, size_t size,
                              heed_error *error) {
  for (size_t at = 0, length; at < size; at += length + 1) {
    const char *line = text + at, *end = memchr(line, '\n', size - at);
    length = end ? (size_t)(end - line) : size - at;
    const size_t kept = length && line[length - 1] == '\r' ? length - 1 : length;
    if (!kept || (at == 0 && kept >= 8 && memcmp(line, "#version", 8) == 0)) continue;
    HEED_TRY(add_spelled(t, where, line, kept, error));
  }
  return HEED_OK;
}

/* What CLIP does to a text, which its two files do not say. */
static heed_status set_clip(heed_tokenizer *t, const char *where, heed_error *error) {
  static const char begin[] = "<|startoftext|>", end[] = "<|endoftext|>";
  const char *const texts[] = {begin, end};
  t->steps[0].change = HEED_TEXT_COMPOSE;
  t->steps[1] = (heed_text_step){.change = HEED_TEXT_REPLACE_SPACES, .with = " "};
  t->steps[2].change = HEED_TEXT_LOWER;
  t->step_count = 3;
  t->words = HEED_WORDS_CLIP;
  t->bytes = true;
  strcpy(t->word_end, "</w>");
  t->before[0] = heed_vocabulary_id(&t->vocabulary, begin, sizeof begin - 1);
  t->after[0] = heed_vocabulary_id(&t->vocabulary, end, sizeof end - 1);
  t->before_count = t->after_count = 1;
  t->unknown = t->info.padding = t->after[0];
  if (t->before[0] < 0 || t->after[0] < 0)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: not CLIP's vocabulary (found no <|startoftext|> and <|endoftext|>, "
                     "expected them, or tokenizer.json)",
                     where);
  for (int i = 0; i < 2; i++) {
    HEED_TRY(heed_tokenizer_add(t, where, texts[i], strlen(texts[i]),
                                i ? t->after[0] : t->before[0], true, error));
    t->added[i].special = true;
  }
  return HEED_OK;
}

heed_status heed_tokenizer_read_clip(heed_tokenizer *t, const heed_model_file *vocabulary,
                                     const heed_model_file *merges, heed_error *error) {
  heed_json *json = NULL;
  char *text = NULL;
  heed_status status = heed_config_read_json(t->context, vocabulary, &json, error);
  const heed_fields fields = {json, heed_json_root(json), vocabulary->name, error};
  if (status == HEED_OK) status = heed_tokenizer_read_vocabulary(t, &fields, fields.object);
  if (status == HEED_OK) status = heed_tokenizer_sort(t, vocabulary->name, error);
  if (status == HEED_OK) status = set_clip(t, vocabulary->name, error);
  if (status == HEED_OK)
    status = heed_source_text(t->context, &merges->source, merges->name, MERGES_MAX, &text, error);
  if (status == HEED_OK)
    status = read_lines(t, merges->name, text, (size_t)merges->source.size, error);
  heed_free(t->context, text);
  heed_json_destroy(json);
  return status;
}
