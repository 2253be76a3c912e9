/* BPE (Sennrich et al. 2016): a word's symbols, of which the pair of the lowest rank is joined, the
 * first of several, until no pair is left. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "text/rules.h"

/* Printable bytes of Latin-1 stand for themselves, the others for what follows U+0100. */
static bool is_plain(uint32_t byte) {
  return (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte != 173);
}

uint32_t heed_byte_point(uint8_t byte) {
  uint32_t before = 0;
  if (is_plain(byte)) return byte;
  for (uint32_t other = 0; other < byte; other++) before += !is_plain(other);
  return 256 + before;
}

int heed_point_byte(uint32_t point) {
  if (is_plain(point)) return (int)point;
  for (int byte = 0; byte < 256; byte++)
    if (heed_byte_point((uint8_t)byte) == point) return byte;
  return -1;
}

bool heed_ids_add(const heed_context *context, heed_ids *ids, int32_t id) {
  if (ids->count == ids->capacity &&
      !heed_grow(context, &ids->at, &ids->capacity, ids->count + 1, sizeof *ids->at))
    return false;
  ids->at[ids->count++] = id;
  return true;
}

/* A symbol that the vocabulary lacks, from `first` on of the word: its bytes, or the unknown id. */
static bool add_unknown(const heed_tokenizer *t, const char *symbol, size_t length, size_t first,
                        heed_ids *ids) {
  char name[8];
  bool spelled = t->byte_fallback;
  for (size_t i = 0; i < length && spelled; i++) {
    snprintf(name, sizeof name, "<0x%02X>", (unsigned char)symbol[i]);
    spelled = heed_vocabulary_id(&t->vocabulary, name, 6) >= 0;
  }
  for (size_t i = 0; i < length && spelled; i++) {
    snprintf(name, sizeof name, "<0x%02X>", (unsigned char)symbol[i]);
    if (!heed_ids_add(t->context, ids, heed_vocabulary_id(&t->vocabulary, name, 6))) return false;
  }
  if (spelled || t->unknown < 0) return true;
  if (t->fuse_unknown && ids->count > first && ids->at[ids->count - 1] == t->unknown) return true;
  return heed_ids_add(t->context, ids, t->unknown);
}

static bool add_symbol(const heed_tokenizer *t, uint32_t point, bool last, size_t first,
                       heed_ids *ids) {
  char symbol[4 + sizeof t->word_end];
  size_t length = heed_utf8_write(symbol, point);
  if (last) {
    memcpy(symbol + length, t->word_end, strlen(t->word_end));
    length += strlen(t->word_end);
  }
  const int32_t id = heed_vocabulary_id(&t->vocabulary, symbol, length);
  return id < 0 ? add_unknown(t, symbol, length, first, ids) : heed_ids_add(t->context, ids, id);
}

static bool add_symbols(const heed_tokenizer *t, const uint32_t *word, size_t length,
                        heed_ids *ids) {
  const size_t first = ids->count;
  for (size_t i = 0; i < length; i++) {
    char bytes[4];
    const size_t count = t->bytes ? heed_utf8_write(bytes, word[i]) : 1;
    for (size_t k = 0; k < count; k++)
      if (!add_symbol(t, t->bytes ? heed_byte_point((uint8_t)bytes[k]) : word[i],
                      i + 1 == length && k + 1 == count, first, ids))
        return false;
  }
  return true;
}

/* ids [count], ranks [count] of each with the next; returns how many are left. */
static size_t join(const heed_vocabulary *v, int32_t *ids, uint32_t *ranks, size_t count) {
  for (size_t i = 0; i < count; i++)
    ranks[i] = i + 1 < count ? heed_vocabulary_rank(v, ids[i], ids[i + 1]) : UINT32_MAX;
  for (;;) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
      if (ranks[i] < ranks[best]) best = i;
    if (!count || ranks[best] == UINT32_MAX) return count;
    ids[best] = v->merges[ranks[best]].result;
    count--;
    memmove(ids + best + 1, ids + best + 2, (count - best - 1) * sizeof *ids);
    memmove(ranks + best + 1, ranks + best + 2, (count - best - 1) * sizeof *ranks);
    ranks[best] = best + 1 < count ? heed_vocabulary_rank(v, ids[best], ids[best + 1]) : UINT32_MAX;
    if (best) ranks[best - 1] = heed_vocabulary_rank(v, ids[best - 1], ids[best]);
  }
}

bool heed_text_merge(const heed_tokenizer *t, const uint32_t *word, size_t length, heed_ids *ids) {
  const size_t first = ids->count;
  if (!add_symbols(t, word, length, ids)) return false;
  const size_t count = ids->count - first;
  if (count < 2) return true;
  uint32_t *ranks = heed_alloc_raw(t->context, count, sizeof *ranks);
  if (!ranks) return false;
  ids->count = first + join(&t->vocabulary, ids->at + first, ranks, count);
  heed_free(t->context, ranks);
  return true;
}
