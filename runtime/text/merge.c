/* BPE (Sennrich et al. 2016): a word's symbols, of which the pair of the lowest rank is joined, the
 * first of several, until no pair is left. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
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

/* A pair that may be joined: the ids it had when it was found, at `at` and at what follows. */
typedef struct pair {
  uint32_t rank, at;
  int32_t left, right;
} pair;

/* Symbols as a list, and their pairs as a heap whose first has the lowest rank, and of several the
 * first in the word: a pair is looked at once, so that long words take no square of their length.
 */
typedef struct joining {
  int32_t *ids;
  uint32_t *next, *before; /* UINT32_MAX: none */
  pair *heap;
  size_t count;
} joining;

static bool pair_less(const pair *a, const pair *b) {
  return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_add(joining *j, pair added) {
  size_t at = j->count++;
  for (; at && pair_less(&added, &j->heap[(at - 1) / 2]); at = (at - 1) / 2)
    j->heap[at] = j->heap[(at - 1) / 2];
  j->heap[at] = added;
}

static pair heap_take(joining *j) {
  HEED_ASSERT(j->count > 0);
  const pair first = j->heap[0], last = j->heap[--j->count];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < j->count; at = child) {
    child += child + 1 < j->count && pair_less(&j->heap[child + 1], &j->heap[child]);
    if (!pair_less(&j->heap[child], &last)) break;
    j->heap[at] = j->heap[child];
  }
  j->heap[at] = last;
  return first;
}

static void add_pair(const heed_vocabulary *v, joining *j, uint32_t at) {
  if (at == UINT32_MAX || j->next[at] == UINT32_MAX) return;
  const pair one = {heed_vocabulary_rank(v, j->ids[at], j->ids[j->next[at]]), at, j->ids[at],
                    j->ids[j->next[at]]};
  if (one.rank != UINT32_MAX) heap_add(j, one);
}

#define GONE INT32_MIN /* the id of a symbol that was joined to the one before it */

/* ids [count]; returns how many are left. Each of the joins, of which there are fewer than count,
 * adds two pairs. */
static size_t join(const heed_vocabulary *v, joining *j, size_t count) {
  size_t left = 0;
  for (uint32_t i = 0; i < count; i++) {
    j->before[i] = i ? i - 1 : UINT32_MAX;
    j->next[i] = i + 1 < count ? i + 1 : UINT32_MAX;
  }
  for (uint32_t i = 0; i < count; i++) add_pair(v, j, i);
  while (j->count) {
    const pair best = heap_take(j);
    const uint32_t right = j->next[best.at];
    if (j->ids[best.at] != best.left || right == UINT32_MAX || j->ids[right] != best.right)
      continue;
    HEED_ASSERT(best.rank < v->merge_count);
    j->ids[best.at] = v->merges[best.rank].result;
    j->ids[right] = GONE;
    j->next[best.at] = j->next[right];
    if (j->next[right] != UINT32_MAX) j->before[j->next[right]] = best.at;
    add_pair(v, j, j->before[best.at]);
    add_pair(v, j, best.at);
  }
  for (size_t i = 0; i < count; i++)
    if (j->ids[i] != GONE) j->ids[left++] = j->ids[i];
  return left;
}

bool heed_text_merge(const heed_tokenizer *t, const uint32_t *word, size_t length, heed_ids *ids) {
  const size_t first = ids->count;
  if (!add_symbols(t, word, length, ids)) return false;
  const size_t count = ids->count - first;
  if (count < 2) return true;
  joining j = {.ids = ids->at + first,
               .next = heed_alloc_raw(t->context, count, 2 * sizeof *j.next),
               .heap = heed_alloc_raw(t->context, count, 3 * sizeof *j.heap)};
  const bool made = j.next && j.heap;
  if (made) {
    j.before = j.next + count;
    ids->count = first + join(&t->vocabulary, &j, count);
  }
  heed_free(t->context, j.next);
  heed_free(t->context, j.heap);
  return made;
}
