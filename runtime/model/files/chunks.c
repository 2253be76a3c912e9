/* Names of layers in chunks. See chunks.h. */
#include "model/files/chunks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"

#define LAYERS "blocks."
#define MARK "norm1.weight" /* each layer has one */
#define MOST_DIGITS 6u

/* "a.blocks.1.7.norm1.weight": `chunk` begins with "1.7.norm1.weight". */
typedef struct chunked {
  uint32_t tensor;
  const char *name, *chunk, *rest; /* rest: after both numbers */
  uint32_t numbers[2];             /* of the chunk and the layer */
} chunked;

typedef struct table {
  chunked *all;
  uint32_t *marks; /* of `all`: those of MARK, by prefix and layer */
  uint32_t count, mark_count;
} table;

static bool read_number(const char **at, uint32_t *number) {
  const size_t digits = strspn(*at, "0123456789");
  if (digits == 0 || digits > MOST_DIGITS || (*at)[digits] != '.') return false;
  *number = 0;
  for (size_t i = 0; i < digits; i++) *number = *number * 10 + (uint32_t)((*at)[i] - '0');
  *at += digits + 1;
  return true;
}

static bool is_chunked(const char *name, chunked *found) {
  const char *at = name;
  while (at && strncmp(at, LAYERS, sizeof LAYERS - 1) != 0) {
    at = strchr(at, '.');
    if (at) at++;
  }
  if (!at) return false;
  at += sizeof LAYERS - 1;
  found->name = name;
  found->chunk = at;
  if (!read_number(&at, &found->numbers[0]) || !read_number(&at, &found->numbers[1])) return false;
  found->rest = at;
  return true;
}

static size_t prefix_of(const chunked *c) { return (size_t)(c->chunk - c->name); }

static int order_prefixes(const chunked *a, const chunked *b) {
  const size_t first = prefix_of(a), second = prefix_of(b);
  const int order = memcmp(a->name, b->name, first < second ? first : second);
  return order ? order : (first > second) - (first < second);
}

static bool before(const void *user, uint32_t a, uint32_t b) {
  const chunked *all = user, *first = &all[a], *second = &all[b];
  const int order = order_prefixes(first, second);
  if (order) return order < 0;
  if (first->numbers[1] != second->numbers[1]) return first->numbers[1] < second->numbers[1];
  return first->numbers[0] != second->numbers[0] ? first->numbers[0] < second->numbers[0] : a < b;
}

/* Layers of one prefix count from 0, and their chunks never go back. */
static heed_status check_numbers(const table *t, const char *where, heed_error *error) {
  const chunked *last = NULL;
  for (uint32_t i = 0; i < t->mark_count; i++) {
    const chunked *c = &t->all[t->marks[i]];
    if (last && order_prefixes(last, c) != 0) last = NULL;
    const bool goes_on =
        last ? c->numbers[1] == last->numbers[1] + 1 &&
                   (c->numbers[0] == last->numbers[0] || c->numbers[0] == last->numbers[0] + 1)
             : c->numbers[0] == 0 && c->numbers[1] == 0;
    if (!goes_on)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: layers in chunks have no numbers in a row (found %.*s%s%.*s, expected "
                       "the second number to count layers over all chunks, as block_chunks of "
                       "DINOv2 does)",
                       where, HEED_CUT(c->name), last ? " after " : " first",
                       HEED_CUT(last ? last->name : ""));
    last = c;
  }
  return HEED_OK;
}

/* Whether a prefix has layers in chunks. */
static bool has_mark(const table *t, const chunked *c) {
  uint32_t low = 0, high = t->mark_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order = order_prefixes(c, &t->all[t->marks[middle]]);
    if (order == 0) return true;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return false;
}

static size_t drop_chunk(const chunked *c, char *to) {
  const size_t prefix = prefix_of(c), rest = strlen(strchr(c->chunk, '.') + 1) + 1;
  memcpy(to, c->name, prefix);
  memcpy(to + prefix, strchr(c->chunk, '.') + 1, rest);
  return prefix + rest;
}

static heed_status rename_all(const heed_context *context, const table *t, const char *where,
                              const heed_safetensors_tensor **tensors, heed_chunks *chunks,
                              heed_error *error) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < t->count; i++) bytes += strlen(t->all[i].name) + 1;
  chunks->tensors = heed_alloc(context, t->count, sizeof *chunks->tensors);
  chunks->names = heed_alloc_raw(context, bytes, 1);
  if (!chunks->tensors || !chunks->names)
    return heed_fail_memory(error, where, bytes + t->count * sizeof *chunks->tensors);
  char *to = chunks->names;
  for (uint32_t i = 0; i < t->count; i++) {
    const heed_safetensors_tensor **tensor = &tensors[t->all[i].tensor];
    if (!has_mark(t, &t->all[i])) continue;
    chunks->tensors[i] = **tensor;
    chunks->tensors[i].name = to;
    to += drop_chunk(&t->all[i], to);
    *tensor = &chunks->tensors[i];
  }
  return HEED_OK;
}

static void fill(table *t, const heed_safetensors_tensor **tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    chunked *c = &t->all[t->count];
    if (!is_chunked(tensors[i]->name, c)) continue;
    c->tensor = i;
    if (strcmp(c->rest, MARK) == 0) t->marks[t->mark_count++] = t->count;
    t->count++;
  }
  heed_sort(t->marks, t->mark_count, before, t->all);
}

/* Models without such names, which are nearly all, cost no memory. */
static bool has_chunks(const heed_safetensors_tensor **tensors, uint32_t count) {
  chunked c;
  for (uint32_t i = 0; i < count; i++)
    if (is_chunked(tensors[i]->name, &c) && strcmp(c.rest, MARK) == 0) return true;
  return false;
}

heed_status heed_chunks_rename(const heed_context *context, const heed_safetensors_tensor **tensors,
                               uint32_t count, const char *where, heed_chunks *chunks,
                               heed_error *error) {
  *chunks = (heed_chunks){NULL, NULL};
  if (!has_chunks(tensors, count)) return HEED_OK;
  table t = {.all = heed_alloc(context, count, sizeof *t.all),
             .marks = heed_alloc(context, count, sizeof *t.marks)};
  heed_status status =
      t.all && t.marks ? HEED_OK : heed_fail_memory(error, where, count * sizeof *t.all);
  if (status == HEED_OK) {
    fill(&t, tensors, count);
    status = check_numbers(&t, where, error);
  }
  if (status == HEED_OK) status = rename_all(context, &t, where, tensors, chunks, error);
  heed_free(context, t.all);
  heed_free(context, t.marks);
  return status;
}

void heed_chunks_free(const heed_context *context, heed_chunks *chunks) {
  heed_free(context, chunks->tensors);
  heed_free(context, chunks->names);
}
