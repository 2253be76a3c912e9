/* tokenizer_config.json: what of it changes the ids of texts, as the tokenizer classes of
 * transformers apply it to tokenizer.json. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/config/config.h"
#include "model/config/fields.h"
#include "text/rules.h"

static bool lowers(const heed_tokenizer *t) {
  for (uint32_t i = 0; i < t->step_count; i++)
    if (t->steps[i].change == HEED_TEXT_LOWER) return true;
  return false;
}

/* SigLIP 2 was trained on lower case. Its class puts that before the steps of tokenizer.json, where
 * it is not; so does do_lower_case of files that name Gemma's class. */
static heed_status read_case(heed_tokenizer *t, const heed_fields *fields, const char *class) {
  bool lower = false;
  HEED_TRY(heed_field_bool(fields, "do_lower_case", &lower));
  if ((!lower && strncmp(class, "Siglip2Tokenizer", 16) != 0) || lowers(t)) return HEED_OK;
  if (t->step_count == HEED_TEXT_CHANGES)
    return heed_field_refuse(fields, "do_lower_case", "true beside 8 steps", "7 steps at most");
  memmove(t->steps + 1, t->steps, t->step_count * sizeof *t->steps);
  t->steps[0] = (heed_text_step){.change = HEED_TEXT_LOWER};
  t->step_count++;
  return HEED_OK;
}

/* The text of a token, which may be an object with its `content`; "" where it is absent. */
static const char *content_of(const heed_fields *fields, heed_json_value value) {
  const char *text = "";
  if (heed_json_kind_of(fields->json, value) == HEED_JSON_OBJECT)
    value = heed_json_get(fields->json, value, "content");
  (void)heed_json_string(fields->json, value, &text, NULL);
  return text;
}

static bool is_true(const heed_fields *fields, heed_json_value object, const char *key) {
  bool flag = false;
  return heed_json_bool(fields->json, heed_json_get(fields->json, object, key), &flag) && flag;
}

/* A token that the file lists, where tokenizer.json does not add it already. `id`: -1 = what the
 * vocabulary has. */
static heed_status add_listed(heed_tokenizer *t, const heed_fields *fields, heed_json_value value,
                              int32_t id, uint8_t *added, bool *grown) {
  const char *text = content_of(fields, value);
  const size_t length = strlen(text);
  const int32_t known = length ? heed_vocabulary_id(&t->vocabulary, text, length) : -1;
  if (!length || (known < 0 && id < 0) || (known >= 0 && added[known])) return HEED_OK;
  if (is_true(fields, value, "lstrip") || is_true(fields, value, "rstrip") ||
      is_true(fields, value, "single_word"))
    return heed_field_refuse(fields, "an added token with lstrip, rstrip or single_word", text,
                             "them to be false");
  HEED_TRY(heed_tokenizer_add(t, fields->where, text, length, known < 0 ? id : known,
                              is_true(fields, value, "normalized"), fields->error));
  t->added[t->added_count - 1].special = id < 0 || is_true(fields, value, "special");
  if (known >= 0) {
    added[known] = 1;
    return HEED_OK;
  }
  *grown = true;
  return heed_vocabulary_add(&t->vocabulary, text, length, id)
             ? HEED_OK
             : heed_fail_memory(fields->error, fields->where, length);
}

static heed_status read_decoder(heed_tokenizer *t, const heed_fields *fields, uint8_t *added,
                                bool *grown) {
  const heed_json *json = fields->json;
  const heed_json_value map = heed_field(fields, "added_tokens_decoder");
  if (map && heed_json_kind_of(json, map) != HEED_JSON_OBJECT)
    return heed_field_fail(fields, "added_tokens_decoder", map, "an object");
  for (heed_json_value v = heed_json_first(json, map); v; v = heed_json_next(json, map, v)) {
    const char *key = heed_json_key(json, v, NULL);
    uint32_t id = 0;
    for (const char *at = key; *at && id < HEED_TOKEN_MAX; at++)
      id = *at >= '0' && *at <= '9' ? id * 10 + (uint32_t)(*at - '0') : HEED_TOKEN_MAX;
    if (!*key || id >= HEED_TOKEN_MAX)
      return heed_field_fail(fields, "added_tokens_decoder", v, "ids below 1048576");
    HEED_TRY(add_listed(t, fields, v, (int32_t)id, added, grown));
  }
  return HEED_OK;
}

static heed_status read_tokens(heed_tokenizer *t, const heed_fields *fields, uint8_t *added,
                               bool *grown) {
  static const char *const names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                      "pad_token", "cls_token", "mask_token"};
  const heed_json *json = fields->json;
  const heed_json_value more = heed_field(fields, "additional_special_tokens");
  HEED_TRY(read_decoder(t, fields, added, grown));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    HEED_TRY(add_listed(t, fields, heed_field(fields, names[i]), -1, added, grown));
  if (heed_json_kind_of(json, more) == HEED_JSON_ARRAY)
    for (heed_json_value v = heed_json_first(json, more); v; v = heed_json_next(json, more, v))
      HEED_TRY(add_listed(t, fields, v, -1, added, grown));
  return HEED_OK;
}

static heed_status add_tokens(heed_tokenizer *t, const heed_fields *fields) {
  bool grown = false;
  uint8_t *added = heed_alloc(t->context, t->vocabulary.ids + 1u, 1);
  if (!added) return heed_fail_memory(fields->error, fields->where, t->vocabulary.ids);
  for (size_t i = 0; i < t->added_count; i++)
    if ((uint32_t)t->added[i].id < t->vocabulary.ids) added[t->added[i].id] = 1;
  const heed_status status = read_tokens(t, fields, added, &grown);
  heed_free(t->context, added);
  HEED_TRY(status);
  if (!grown) return HEED_OK;
  heed_free(t->context, t->vocabulary.by_text);
  heed_free(t->context, t->vocabulary.by_id);
  return heed_vocabulary_sort(&t->vocabulary)
             ? HEED_OK
             : heed_fail_memory(fields->error, fields->where, t->vocabulary.ids);
}

/* Classes of SentencePiece make what stands around a text of two flags. */
static heed_status read_around(heed_tokenizer *t, const heed_fields *fields, const char *key,
                               const char *token, int32_t *ids, uint32_t *count) {
  const heed_json_value value = heed_field(fields, key);
  const char *text = content_of(fields, heed_field(fields, token));
  bool wanted = false;
  HEED_TRY(heed_field_bool(fields, key, &wanted));
  if (!value || (wanted && *count)) return HEED_OK;
  *count = 0;
  if (!wanted) return HEED_OK;
  ids[0] = heed_vocabulary_id(&t->vocabulary, text, strlen(text));
  if (ids[0] < 0) return heed_field_refuse(fields, key, text, "a token of the vocabulary");
  *count = 1;
  return HEED_OK;
}

/* Sides of other towers; what the classes of the tokenizers that are read do not know changes
 * nothing in transformers either. */
static heed_status read_rows(heed_tokenizer *t, const heed_fields *fields) {
  static const char *const sides[] = {"padding_side", "truncation_side"};
  double most = 0.0;
  for (int i = 0; i < 2; i++) {
    const char *side = "right";
    HEED_TRY(heed_field_string(fields, sides[i], &side));
    if (strcmp(side, "right") != 0) return heed_field_refuse(fields, sides[i], side, "right");
  }
  if (t->bytes && t->words == HEED_WORDS_GPT2 &&
      is_true(fields, fields->object, "add_prefix_space"))
    return heed_field_refuse(fields, "add_prefix_space", "true", "false");
  /* 1e30 means none */
  if (heed_json_double(fields->json, heed_field(fields, "model_max_length"), &most) &&
      most >= 1.0 && most < 0x1p31)
    t->info.most = (uint32_t)most;
  return HEED_OK;
}

static heed_status apply(heed_tokenizer *t, const heed_fields *fields) {
  const char *class = "";
  HEED_TRY(heed_field_string(fields, "tokenizer_class", &class));
  HEED_TRY(add_tokens(t, fields));
  HEED_TRY(read_case(t, fields, class));
  if (strncmp(class, "Siglip2", 7) == 0 || strncmp(class, "Gemma", 5) == 0 ||
      strncmp(class, "Llama", 5) == 0) {
    HEED_TRY(read_around(t, fields, "add_bos_token", "bos_token", t->before, &t->before_count));
    HEED_TRY(read_around(t, fields, "add_eos_token", "eos_token", t->after, &t->after_count));
  }
  t->split_specials = is_true(fields, fields->object, "split_special_tokens");
  const char *pad = content_of(fields, heed_field(fields, "pad_token"));
  const int32_t id = *pad ? heed_vocabulary_id(&t->vocabulary, pad, strlen(pad)) : -1;
  if (id >= 0) t->info.padding = id;
  return read_rows(t, fields);
}

heed_status heed_tokenizer_read_config(heed_tokenizer *t, const heed_model_file *file,
                                       heed_error *error) {
  heed_json *json = NULL;
  if (!file) {
    if (t->byte_fallback && !lowers(t))
      snprintf(t->assumed, sizeof t->assumed,
               "texts as they are written: no tokenizer_config.json says do_lower_case");
    return HEED_OK;
  }
  heed_status status = heed_config_read_json(t->context, file, &json, error);
  const heed_fields fields = {json, heed_json_root(json), file->name, error};
  if (status == HEED_OK) status = apply(t, &fields);
  heed_json_destroy(json);
  return status;
}
