/* Opening a tokenizer, and a text's way through it. See heed/tokenizer.h. */
#include "heed/tokenizer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "text/rules.h"

/* ----------------------------------------------------------------------------------------- open */

static heed_status refuse_files(const heed_model_desc *desc, heed_error *error) {
  static const char *const others[] = {"spiece.model", "tokenizer.model", "vocab.txt",
                                       "sentencepiece.bpe.model"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (heed_find_file(desc->files, desc->file_count, others[i]))
      return heed_fail(error, HEED_UNSUPPORTED,
                       "%s: this kind of tokenizer is not supported (expected tokenizer.json with "
                       "BPE, or CLIP's vocab.json and merges.txt)",
                       others[i]);
  return heed_fail(error, HEED_INVALID_FILE,
                   "tokenizer: no file of one beside the model (expected tokenizer.json, or "
                   "vocab.json and merges.txt)");
}

enum { JSON, WORDS, MERGES, CONFIG, FILES };

static heed_status read_files(heed_tokenizer *t, const heed_model_desc *desc,
                              const heed_model_file *const files[FILES], heed_error *error) {
  if (files[JSON])
    HEED_TRY(heed_tokenizer_read_json(t, files[JSON], error));
  else if (files[WORDS] && files[MERGES])
    HEED_TRY(heed_tokenizer_read_clip(t, files[WORDS], files[MERGES], error));
  else
    return refuse_files(desc, error);
  return heed_tokenizer_read_config(t, files[CONFIG], error);
}

/* Those before the changes, then by text; of equal ones the first of the file. */
static bool added_less(const void *user, uint32_t a, uint32_t b) {
  const heed_added_token *x = (const heed_added_token *)user + a,
                         *y = (const heed_added_token *)user + b;
  if (x->after != y->after) return y->after;
  for (size_t i = 0; i < x->text.count && i < y->text.count; i++)
    if (x->text.at[i] != y->text.at[i]) return x->text.at[i] < y->text.at[i];
  return x->text.count != y->text.count ? x->text.count < y->text.count : a < b;
}

/* What texts are searched for, and ids are looked up in. */
static bool sort_added(heed_tokenizer *t) {
  size_t count = 0;
  t->is_added = heed_alloc(t->context, t->vocabulary.ids + 1u, 1);
  t->by_added = heed_alloc_raw(t->context, t->added_count + 1, sizeof *t->by_added);
  if (!t->is_added || !t->by_added) return false;
  for (size_t i = 0; i < t->added_count; i++) {
    const heed_added_token *one = &t->added[i];
    if ((uint32_t)one->id < t->vocabulary.ids) t->is_added[one->id] = 1;
    if (one->special && t->split_specials) continue;
    t->by_added[count++] = (uint32_t)i;
    t->added_before += !one->after;
  }
  t->by_added[count] = 0;
  t->added_found = count;
  heed_sort(t->by_added, count, added_less, t->added);
  return true;
}

static heed_status finish(heed_tokenizer *t, heed_error *error) {
  const int32_t pad = heed_vocabulary_id(&t->vocabulary, "<pad>", 5);
  if (!sort_added(t)) return heed_fail_memory(error, "tokenizer", t->vocabulary.ids);
  if (!heed_vocabulary_sort_merges(&t->vocabulary))
    return heed_fail_memory(error, "tokenizer", t->vocabulary.merge_count * sizeof(uint32_t));
  t->info.kind = t->bytes ? "byte-level BPE" : "BPE with byte fallback";
  t->info.vocabulary = t->vocabulary.ids;
  t->info.begin = t->before_count ? t->before[0] : -1;
  t->info.end = t->after_count ? t->after[t->after_count - 1] : -1;
  if (t->info.padding < 0) t->info.padding = pad >= 0 ? pad : t->info.end;
  t->info.assumed = *t->assumed ? t->assumed : NULL;
  if (t->bytes || t->byte_fallback) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "tokenizer.json: BPE of characters is not supported (expected byte-level BPE, "
                   "or byte_fallback)");
}

heed_status heed_tokenizer_open(heed_context *context, const heed_model_desc *desc,
                                heed_tokenizer **tokenizer, heed_error *error) {
  heed_model_desc full;
  if (!context || !desc || !tokenizer)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "tokenizer: NULL argument (expected context, desc and tokenizer)");
  *tokenizer = NULL;
  HEED_TRY(heed_model_desc_read(&full, desc, error));
  heed_tokenizer *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "tokenizer", sizeof *made);
  static const char *const names[FILES] = {"tokenizer.json", "vocab.json", "merges.txt",
                                           "tokenizer_config.json"};
  const heed_model_file *files[FILES];
  uint64_t size = 0;
  for (uint32_t i = 0; i < FILES; i++) {
    files[i] = heed_find_file(full.files, full.file_count, names[i]);
    if (files[i]) size = heed_budget_most(size, 1, files[i]->source.size);
  }
  heed_budget memory;
  heed_budget_open(context, size, &memory, &made->within);
  made->context = made->vocabulary.context = &made->within;
  made->unknown = made->info.padding = -1;
  heed_status status = read_files(made, &full, files, error);
  if (status == HEED_OK) status = finish(made, error);
  status = heed_budget_close(&memory, &made->within, status, "tokenizer", error);
  if (status == HEED_OK)
    *tokenizer = made;
  else
    heed_tokenizer_destroy(made);
  return status;
}

void heed_tokenizer_destroy(heed_tokenizer *t) {
  if (!t) return;
  for (size_t i = 0; i < t->added_count; i++) heed_free(t->context, t->added[i].text.at);
  heed_free(t->context, t->added);
  heed_free(t->context, t->by_added);
  heed_free(t->context, t->is_added);
  heed_vocabulary_free(&t->vocabulary);
  heed_free(t->context, t);
}

const heed_tokenizer_info *heed_tokenizer_get_info(const heed_tokenizer *t) { return &t->info; }

/* --------------------------------------------------------------------------------------- encode */

/* Of sorted tokens [first, end) that agree up to `k`, the first whose point k is `point` or above.
 */
static size_t lower_bound(const heed_tokenizer *t, size_t first, size_t end, size_t k,
                          uint32_t point) {
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    const heed_points *text = &t->added[t->by_added[middle]].text;
    if (text->count <= k || text->at[k] < point)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* The longest added token at `at`, of those that are looked for now; NULL: none. */
static const heed_added_token *added_at(const heed_tokenizer *t, const heed_points *text, size_t at,
                                        bool after) {
  const heed_added_token *best = NULL;
  size_t first = after ? t->added_before : 0, end = after ? t->added_found : t->added_before;
  for (size_t k = 0; at + k < text->count && first < end; k++) {
    const uint32_t point = text->at[at + k];
    first = lower_bound(t, first, end, k, point);
    end = lower_bound(t, first, end, k, point + 1);
    const heed_added_token *one = first < end ? &t->added[t->by_added[first]] : NULL;
    if (one && one->text.count == k + 1) best = one;
  }
  return best;
}

static bool add_words(const heed_tokenizer *t, const heed_points *text, heed_ids *ids) {
  for (size_t first = 0, end; heed_text_word(t->words, text, &first, &end); first = end)
    if (!heed_text_merge(t, text->at + first, end - first, ids)) return false;
  return true;
}

static bool add_part(const heed_tokenizer *t, const heed_points *text, bool after, heed_ids *ids);

/* What lies between added tokens: changed and looked through again, or made of words. */
static bool add_between(const heed_tokenizer *t, const uint32_t *at, size_t count, bool after,
                        heed_ids *ids) {
  heed_points part = {0};
  bool done = true;
  if (!count) return true;
  for (size_t i = 0; i < count && done; i++) done = heed_points_add(t->context, &part, at[i]);
  done = done && (after ? add_words(t, &part, ids)
                        : heed_text_apply(t, &part, ids) && add_part(t, &part, true, ids));
  heed_free(t->context, part.at);
  return done;
}

static bool add_part(const heed_tokenizer *t, const heed_points *text, bool after, heed_ids *ids) {
  size_t start = 0, at = 0;
  if (text->count == 0) return true; /* text->at may be NULL, to which nothing may be added */
  while (at < text->count) {
    const heed_added_token *found = added_at(t, text, at, after);
    if (!found) {
      at++;
      continue;
    }
    if (!add_between(t, text->at + start, at - start, after, ids) ||
        !heed_ids_add(t->context, ids, found->id))
      return false;
    start = at += found->text.count;
  }
  return add_between(t, text->at + start, at - start, after, ids);
}

static heed_status check(const heed_tokenizer *t, const char *text, size_t length, uint32_t most,
                         heed_error *error) {
  const uint32_t least = t->before_count + t->after_count + 1;
  if (length > HEED_TOKENIZER_TEXT_MAX)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "text: too long (found %zu bytes, expected at most %zu)", length,
                     HEED_TOKENIZER_TEXT_MAX);
  if (!heed_utf8_valid(text, length))
    return heed_fail(error, HEED_INVALID_ARGUMENT, "text: not UTF-8");
  if (most >= least) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "text: no room for its ids (found %u, expected at least %u)", most, least);
}

heed_status heed_tokenizer_encode(const heed_tokenizer *t, const char *text, size_t length,
                                  int32_t *ids, uint32_t most, uint32_t *count, uint32_t *whole,
                                  heed_error *error) {
  heed_points points = {0};
  heed_ids found = {.points.most = HEED_CHANGED_MAX};
  *count = 0;
  HEED_TRY(check(t, text, length, most, error));
  const bool done =
      heed_points_read(t->context, &points, text, length) && add_part(t, &points, false, &found);
  if (done) {
    const uint32_t around = t->before_count + t->after_count,
                   kept = found.count < most - around ? (uint32_t)found.count : most - around;
    memcpy(ids, t->before, t->before_count * sizeof *ids);
    if (kept) memcpy(ids + t->before_count, found.at, kept * sizeof *ids);
    memcpy(ids + t->before_count + kept, t->after, t->after_count * sizeof *ids);
    *count = around + kept;
    if (whole) *whole = around + (uint32_t)found.count;
  }
  heed_free(t->context, points.at);
  heed_free(t->context, found.at);
  if (found.points.refused)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "text: too long once tokenizer.json has changed it (found more than %zu "
                     "characters)",
                     HEED_CHANGED_MAX);
  return done ? HEED_OK : heed_fail_memory(error, "text", length * sizeof(uint32_t));
}

/* ----------------------------------------------------------------------------------------- text */

/* "<0x41>" -> 0x41; -1: it is spelled otherwise. */
static int fallback_byte(const char *text, size_t length) {
  int byte = 0;
  if (length != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') return -1;
  for (const char *at = text + 3; at < text + 5; at++) {
    if (*at >= '0' && *at <= '9')
      byte = byte * 16 + (*at - '0');
    else if (*at >= 'A' && *at <= 'F')
      byte = byte * 16 + (*at - 'A') + 10;
    else
      return -1;
  }
  return byte;
}

void heed_tokenizer_text(const heed_tokenizer *t, int32_t id, char *to, size_t size) {
  static const char space[] = "\xE2\x96\x81"; /* U+2581, SentencePiece's space */
  const heed_token *token = heed_vocabulary_token(&t->vocabulary, id);
  const char *text = token ? t->vocabulary.text + token->first : "";
  size_t length = token ? token->length : 0, end = strlen(t->word_end), count = 0;
  const bool plain = token && t->is_added[id];
  const int byte = t->byte_fallback ? fallback_byte(text, length) : -1;
  if (!size) return;
  if (!plain && end && length > end && memcmp(text + length - end, t->word_end, end) == 0)
    length -= end;
  for (size_t at = 0, bytes; at < length && byte < 0 && count + 5 <= size; at += bytes) {
    bytes = heed_utf8_length(text, at, length);
    if (!bytes) break; /* texts of files are whole */
    const int one = t->bytes && !plain ? heed_point_byte(heed_utf8_point(text + at, bytes)) : -1;
    if (one >= 0)
      to[count++] = (char)one;
    else if (bytes == 3 && memcmp(text + at, space, 3) == 0)
      to[count++] = ' ';
    else
      for (size_t k = 0; k < bytes; k++) to[count++] = text[at + k];
  }
  if (byte >= 0 && size > 1) to[count++] = (char)byte;
  for (size_t i = 0; i < count; i++)
    if (!to[i]) to[i] = '?';
  to[count] = '\0';
  heed_utf8_clean(to);
}
