/* See vocabulary.h. Sorted, so that no text of a file makes a look-up slow. */
#include "text/vocabulary.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"

static int compare(const heed_vocabulary *v, uint32_t place, const char *text, size_t length) {
  const heed_token *token = &v->tokens[place];
  const size_t least = token->length < length ? token->length : length;
  const int order = least ? memcmp(v->text + token->first, text, least) : 0;
  return order ? order : token->length < length ? -1 : token->length > length;
}

static bool token_less(const void *user, uint32_t a, uint32_t b) {
  const heed_vocabulary *v = user;
  const int order = compare(v, a, v->text + v->tokens[b].first, v->tokens[b].length);
  return order ? order < 0 : a < b;
}

static int compare_pair(const heed_merge *merge, int32_t left, int32_t right) {
  if (merge->left != left) return merge->left < left ? -1 : 1;
  return merge->right < right ? -1 : merge->right > right;
}

static bool merge_less(const void *user, uint32_t a, uint32_t b) {
  const heed_vocabulary *v = user;
  const int order = compare_pair(&v->merges[a], v->merges[b].left, v->merges[b].right);
  return order ? order < 0 : a < b;
}

bool heed_vocabulary_add(heed_vocabulary *v, const char *text, size_t length, int32_t id) {
  HEED_ASSERT(id >= 0 && (uint64_t)v->text_count + length <= UINT32_MAX);
  if (!heed_grow(v->context, &v->text, &v->text_capacity, v->text_count + length + 1, 1) ||
      !heed_grow(v->context, &v->tokens, &v->token_capacity, v->token_count + 1, sizeof *v->tokens))
    return false;
  memcpy(v->text + v->text_count, text, length);
  v->tokens[v->token_count++] = (heed_token){(uint32_t)v->text_count, (uint32_t)length, id};
  v->text_count += length;
  if ((uint32_t)id >= v->ids) v->ids = (uint32_t)id + 1;
  return true;
}

static uint32_t *sorted(const heed_vocabulary *v, size_t count, heed_sort_less less) {
  uint32_t *places = heed_alloc(v->context, count ? count : 1, sizeof *places);
  for (size_t i = 0; places && i < count; i++) places[i] = (uint32_t)i;
  if (places) heed_sort(places, count, less, v);
  return places;
}

bool heed_vocabulary_sort(heed_vocabulary *v) {
  v->by_text = sorted(v, v->token_count, token_less);
  v->by_id = heed_alloc(v->context, v->ids ? v->ids : 1, sizeof *v->by_id);
  for (size_t i = 0; v->by_id && i < v->token_count; i++) {
    HEED_ASSERT((uint32_t)v->tokens[i].id < v->ids);
    v->by_id[v->tokens[i].id] = (uint32_t)i + 1;
  }
  return v->by_text && v->by_id;
}

bool heed_vocabulary_add_merge(heed_vocabulary *v, heed_merge merge) {
  if (!heed_grow(v->context, &v->merges, &v->merge_capacity, v->merge_count + 1, sizeof merge))
    return false;
  v->merges[v->merge_count++] = merge;
  return true;
}

bool heed_vocabulary_sort_merges(heed_vocabulary *v) {
  v->by_pair = sorted(v, v->merge_count, merge_less);
  return v->by_pair != NULL;
}

void heed_vocabulary_free(heed_vocabulary *v) {
  void *const all[] = {v->text, v->tokens, v->merges, v->by_text, v->by_pair, v->by_id};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) heed_free(v->context, all[i]);
}

int32_t heed_vocabulary_id(const heed_vocabulary *v, const char *text, size_t length) {
  size_t low = 0, high = v->token_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = compare(v, v->by_text[middle], text, length);
    if (!order) return v->tokens[v->by_text[middle]].id;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

const heed_token *heed_vocabulary_token(const heed_vocabulary *v, int32_t id) {
  return id >= 0 && (uint32_t)id < v->ids && v->by_id[id] ? &v->tokens[v->by_id[id] - 1] : NULL;
}

/* Of a pair that stands twice, the last: as a dictionary that is filled in order has it. */
uint32_t heed_vocabulary_rank(const heed_vocabulary *v, int32_t left, int32_t right) {
  size_t low = 0, high = v->merge_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_pair(&v->merges[v->by_pair[middle]], left, right) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low || compare_pair(&v->merges[v->by_pair[low - 1]], left, right) != 0) return UINT32_MAX;
  return v->by_pair[low - 1];
}
