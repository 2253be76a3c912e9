/* tokenizer.json, of Hugging Face's tokenizers: what is read is what BPE tokenizers of text towers
 * have; the rest is refused by its name. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/config/config.h"
#include "model/config/fields.h"
#include "text/read_model.h"

static heed_status refuse(const heed_fields *fields, const char *part, const char *found,
                          const char *expected) {
  return heed_fail(fields->error, HEED_UNSUPPORTED,
                   "%s: %s is not supported (found %.*s, expected %s)", fields->where, part,
                   HEED_CUT(found), expected);
}

static heed_fields inside(const heed_fields *fields, heed_json_value object) {
  return (heed_fields){fields->json, object, fields->where, fields->error};
}

/* Whether a member says something else than false, "" or nothing. */
static bool says(const heed_fields *fields, const char *key) {
  const heed_json_value value = heed_field(fields, key);
  const char *text;
  bool flag;
  if (heed_json_bool(fields->json, value, &flag)) return flag;
  return value && !(heed_json_string(fields->json, value, &text, NULL) && !*text);
}

static heed_status type_of(const heed_fields *fields, const char **type) {
  *type = "";
  return heed_field_string(fields, "type", type);
}

/* ------------------------------------------------------------------------------------ normalizer
 */

static heed_status copy_part(const heed_fields *fields, const char *key, heed_json_value value,
                             char to[HEED_TEXT_PART]) {
  const char *text;
  size_t length;
  if (!heed_json_string(fields->json, value, &text, &length))
    return heed_field_fail(fields, key, value, "a string");
  if (length >= HEED_TEXT_PART || strlen(text) != length)
    return heed_field_fail(fields, key, value, "a string of at most 63 bytes without a zero");
  memcpy(to, text, length + 1);
  return HEED_OK;
}

static heed_status read_replace(const heed_fields *fields, heed_text_step *step) {
  const heed_fields pattern = inside(fields, heed_field(fields, "pattern"));
  const heed_json_value regex = heed_field(&pattern, "Regex");
  step->change = regex ? HEED_TEXT_REPLACE_SPACES : HEED_TEXT_REPLACE;
  HEED_TRY(
      copy_part(fields, "pattern", regex ? regex : heed_field(&pattern, "String"), step->what));
  if (regex && strcmp(step->what, "\\s+") != 0)
    return refuse(fields, "a pattern of the normalizer", step->what, "\\s+ or a string");
  return copy_part(fields, "content", heed_field(fields, "content"), step->with);
}

static heed_status read_step(heed_tokenizer *t, const heed_fields *fields) {
  const char *type;
  HEED_TRY(type_of(fields, &type));
  if (t->step_count == HEED_TEXT_CHANGES)
    return refuse(fields, "the normalizer", "more than 8 steps", "8 at most");
  heed_text_step *step = &t->steps[t->step_count++];
  step->change = HEED_TEXT_COMPOSE;
  if (strcmp(type, "NFC") == 0) return HEED_OK;
  step->change = HEED_TEXT_LOWER;
  if (strcmp(type, "Lowercase") == 0) return HEED_OK;
  if (strcmp(type, "Replace") == 0) return read_replace(fields, step);
  return refuse(fields, "a step of the normalizer", type, "NFC, Lowercase or Replace");
}

/* Calls `read` for the part, or for each part of a Sequence, whose list has that name. */
static heed_status each_part(heed_tokenizer *t, const heed_fields *fields, const char *part,
                             const char *list,
                             heed_status (*read)(heed_tokenizer *t, const heed_fields *fields)) {
  const heed_json *json = fields->json;
  const heed_fields whole = inside(fields, heed_field(fields, part));
  const char *type;
  if (!whole.object) return HEED_OK;
  HEED_TRY(type_of(&whole, &type));
  if (strcmp(type, "Sequence") != 0) return read(t, &whole);
  const heed_json_value all = heed_field(&whole, list);
  for (heed_json_value v = heed_json_first(json, all); v; v = heed_json_next(json, all, v)) {
    const heed_fields one = inside(fields, v);
    HEED_TRY(read(t, &one));
  }
  return HEED_OK;
}

/* --------------------------------------------------------------------------------- pre_tokenizer
 */

#define CLIP_WORDS "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"

static heed_status read_byte_level(heed_tokenizer *t, const heed_fields *fields) {
  bool pattern = true;
  HEED_TRY(heed_field_bool(fields, "use_regex", &pattern));
  if (says(fields, "add_prefix_space")) return refuse(fields, "add_prefix_space", "true", "false");
  t->bytes = true;
  /* the words of CLIP's pattern are words of this one */
  if (pattern && t->words == HEED_WORDS_WHOLE) t->words = HEED_WORDS_GPT2;
  return HEED_OK;
}

/* CLIP's pattern. Splitting at spaces is nothing where the normalizer leaves none. */
static heed_status read_split(heed_tokenizer *t, const heed_fields *fields) {
  static const char specials[] = "<\\|startoftext\\|>|<\\|endoftext\\|>|";
  const heed_fields pattern = inside(fields, heed_field(fields, "pattern"));
  const char *regex = "", *text = "", *behavior = "";
  bool invert = false, spaces_left = true;
  HEED_TRY(heed_field_string(&pattern, "Regex", &regex));
  HEED_TRY(heed_field_string(&pattern, "String", &text));
  HEED_TRY(heed_field_string(fields, "behavior", &behavior));
  HEED_TRY(heed_field_bool(fields, "invert", &invert));
  for (uint32_t i = 0; i < t->step_count; i++)
    if (t->steps[i].change == HEED_TEXT_REPLACE && strcmp(t->steps[i].what, " ") == 0)
      spaces_left = strchr(t->steps[i].with, ' ') != NULL;
  if (strcmp(text, " ") == 0 && !spaces_left) return HEED_OK;
  const bool begins = strncmp(regex, specials, sizeof specials - 1) == 0;
  if (strcmp(behavior, "Removed") != 0 || !invert ||
      strcmp(regex + (begins ? sizeof specials - 1 : 0), CLIP_WORDS) != 0)
    return refuse(fields, "a split of the pre_tokenizer", *regex ? regex : text, "CLIP's pattern");
  t->words = HEED_WORDS_CLIP;
  return HEED_OK;
}

static heed_status read_words(heed_tokenizer *t, const heed_fields *fields) {
  const char *type;
  HEED_TRY(type_of(fields, &type));
  if (strcmp(type, "ByteLevel") == 0) return read_byte_level(t, fields);
  if (strcmp(type, "Split") == 0) return read_split(t, fields);
  return refuse(fields, "a pre_tokenizer", type, "ByteLevel or Split");
}

/* -------------------------------------------------------------------------------- post_processor
 */

static heed_status add_around(heed_tokenizer *t, const heed_fields *fields, bool before,
                              int32_t id) {
  int32_t *ids = before ? t->before : t->after;
  uint32_t *count = before ? &t->before_count : &t->after_count;
  if (*count == HEED_TEXT_AROUND)
    return refuse(fields, "post_processor", "more than 8 ids around a text", "8 at most");
  ids[(*count)++] = id;
  return HEED_OK;
}

/* ["<|endoftext|>", 49407] */
static heed_status read_pair(heed_tokenizer *t, const heed_fields *fields, const char *key,
                             bool before) {
  const heed_json_value pair = heed_field(fields, key), first = heed_json_first(fields->json, pair),
                        second = heed_json_next(fields->json, pair, first);
  uint64_t id;
  if (heed_json_kind_of(fields->json, pair) != HEED_JSON_ARRAY || !first ||
      !heed_json_u64(fields->json, second, &id) || id >= HEED_TOKEN_MAX)
    return heed_field_fail(fields, key, pair, "a token and its id");
  return add_around(t, fields, before, (int32_t)id);
}

/* {"SpecialToken": {"id": "<eos>"}} or {"Sequence": {"id": "A"}} */
static heed_status read_template(heed_tokenizer *t, const heed_fields *fields) {
  const heed_json *json = fields->json;
  const heed_json_value list = heed_field(fields, "single");
  bool before = true;
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v)) {
    const heed_json_value special = heed_json_get(json, v, "SpecialToken");
    const heed_fields token = inside(fields, special);
    const char *text = "";
    if (!special) {
      before = false;
      continue;
    }
    HEED_TRY(heed_field_string(&token, "id", &text));
    const int32_t id = heed_vocabulary_id(&t->vocabulary, text, strlen(text));
    if (id < 0)
      return heed_fail(fields->error, HEED_INVALID_FILE,
                       "%s: post_processor names a token that is not there (found %.*s)",
                       fields->where, HEED_CUT(text));
    HEED_TRY(add_around(t, fields, before, id));
  }
  return HEED_OK;
}

static heed_status read_around(heed_tokenizer *t, const heed_fields *fields) {
  const char *type;
  HEED_TRY(type_of(fields, &type));
  if (strcmp(type, "ByteLevel") == 0) return HEED_OK; /* it only changes offsets */
  if (strcmp(type, "TemplateProcessing") == 0) return read_template(t, fields);
  if (strcmp(type, "RobertaProcessing") != 0 && strcmp(type, "BertProcessing") != 0)
    return refuse(fields, "a post_processor", type, "RobertaProcessing or TemplateProcessing");
  HEED_TRY(read_pair(t, fields, "cls", true));
  return read_pair(t, fields, "sep", false);
}

/* ----------------------------------------------------------------------------------------- model
 */

static heed_status read_model(heed_tokenizer *t, const heed_fields *fields) {
  static const char *const others[] = {"dropout", "continuing_subword_prefix", "ignore_merges"};
  const char *type = "BPE", *end = "";
  HEED_TRY(type_of(fields, &type));
  if (*type && strcmp(type, "BPE") != 0)
    return refuse(fields, "the tokenizer's model", type, "BPE");
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (says(fields, others[i]))
      return refuse(fields, "the tokenizer's model", others[i], "plain BPE");
  HEED_TRY(heed_field_bool(fields, "byte_fallback", &t->byte_fallback));
  HEED_TRY(heed_field_bool(fields, "fuse_unk", &t->fuse_unknown));
  HEED_TRY(heed_field_string(fields, "end_of_word_suffix", &end));
  if (strlen(end) >= sizeof t->word_end)
    return refuse(fields, "end_of_word_suffix", end, "at most 15 bytes");
  strcpy(t->word_end, end);
  return heed_tokenizer_read_vocabulary(t, fields, heed_field(fields, "vocab"));
}

/* ---------------------------------------------------------------------------------- added_tokens
 */

static heed_status read_added(heed_tokenizer *t, const heed_fields *fields) {
  const char *text = "";
  HEED_TRY(heed_field_string(fields, "content", &text));
  const size_t length = strlen(text);
  if (!length) return heed_field_fail(fields, "added_tokens", fields->object, "contents");
  if (says(fields, "lstrip") || says(fields, "rstrip") || says(fields, "single_word"))
    return refuse(fields, "an added token with lstrip, rstrip or single_word", text,
                  "them to be false");
  uint64_t id;
  bool after = false;
  if (!heed_json_u64(fields->json, heed_field(fields, "id"), &id) || id >= HEED_TOKEN_MAX)
    return heed_field_fail(fields, "id", heed_field(fields, "id"), "a number below 1048576");
  HEED_TRY(heed_field_bool(fields, "normalized", &after));
  HEED_TRY(heed_tokenizer_add(t, fields->where, text, length, (int32_t)id, after, fields->error));
  t->added[t->added_count - 1].special = says(fields, "special");
  if (!heed_vocabulary_add(&t->vocabulary, text, length, (int32_t)id))
    return heed_fail_memory(fields->error, fields->where, length);
  return HEED_OK;
}

static heed_status read_all_added(heed_tokenizer *t, const heed_fields *fields) {
  const heed_json *json = fields->json;
  const heed_json_value list = heed_field(fields, "added_tokens");
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v)) {
    const heed_fields one = inside(fields, v);
    HEED_TRY(read_added(t, &one));
  }
  return HEED_OK;
}

/* ----------------------------------------------------------------------------------------- files
 */

static heed_status read_tokenizer(heed_tokenizer *t, const heed_fields *fields) {
  const heed_fields model = inside(fields, heed_field(fields, "model"));
  const heed_fields padding = inside(fields, heed_field(fields, "padding"));
  const char *unknown = "";
  uint32_t pad = HEED_TOKEN_MAX;
  if (heed_json_kind_of(fields->json, model.object) != HEED_JSON_OBJECT)
    return heed_field_fail(fields, "model", model.object, "an object");
  HEED_TRY(read_model(t, &model));
  HEED_TRY(read_all_added(t, fields));
  HEED_TRY(heed_tokenizer_sort(t, fields->where, fields->error));
  HEED_TRY(heed_tokenizer_read_merges(t, &model, heed_field(&model, "merges")));
  HEED_TRY(heed_field_string(&model, "unk_token", &unknown));
  t->unknown = heed_vocabulary_id(&t->vocabulary, unknown, strlen(unknown));
  HEED_TRY(each_part(t, fields, "normalizer", "normalizers", read_step));
  HEED_TRY(each_part(t, fields, "pre_tokenizer", "pretokenizers", read_words));
  HEED_TRY(each_part(t, fields, "post_processor", "processors", read_around));
  HEED_TRY(heed_field_size(&padding, "pad_id", 0, &pad));
  t->info.padding = pad < t->vocabulary.ids ? (int32_t)pad : -1;
  return HEED_OK;
}

heed_status heed_tokenizer_read_json(heed_tokenizer *t, const heed_model_file *file,
                                     heed_error *error) {
  heed_json *json = NULL;
  heed_status status = heed_config_read_json(t->context, file, &json, error);
  const heed_fields fields = {json, heed_json_root(json), file->name, error};
  if (status == HEED_OK) status = read_tokenizer(t, &fields);
  heed_json_destroy(json);
  return status;
}
