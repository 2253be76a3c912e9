/* See training.h. */
#include "pickle/training.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/training.h"

enum { MOST_NOTES = 48, MOST_PATH = 96, MOST_TEXT = 96, MOST_DEPTH = 3, MOST_VISITS = 10000 };

typedef struct noting {
  const heed_pickle_heap *heap;
  heed_assembled *to;
  char noted[MOST_NOTES][MOST_PATH]; /* keys that were written */
  uint32_t count, visits;
  char path[MOST_PATH];
} noting;

static bool is_container(heed_pickle_kind kind) {
  return kind == HEED_PICKLE_DICT || kind == HEED_PICKLE_OBJECT;
}

/* Whether arguments lie under the entry; inside of them every dictionary may have some. */
static bool has_arguments(const char *name, uint32_t depth) {
  return depth > 0 || heed_list_has("args|hyper_parameters|hparams|hyperparameters|config|cfg|opt|"
                                    "options|model_args|model_config|model_kwargs|params",
                                    name);
}

/* A number as decimals, whatever the program's locale; false: it is no mean and no deviation. */
static bool put_number(const heed_pickle_heap *heap, heed_pickle_id id, char *text, size_t size) {
  const heed_pickle_value *value = heed_pickle_get(heap, id);
  const size_t at = strlen(text);
  double number = (double)value->number;
  if (value->kind == HEED_PICKLE_FLOAT) memcpy(&number, &value->number, sizeof number);
  if ((value->kind != HEED_PICKLE_FLOAT && value->kind != HEED_PICKLE_INTEGER) ||
      !(number >= 0.0 && number < 1000.0))
    return false;
  const uint64_t parts = (uint64_t)(number * 1e9 + 0.5);
  const int written = snprintf(text + at, size - at, "%s%" PRIu64 ".%09" PRIu64, at ? "," : "",
                               parts / 1000000000, parts % 1000000000);
  if (written < 0 || (size_t)written >= size - at) return false;
  for (size_t end = at + (size_t)written; text[end - 1] == '0' && text[end - 2] != '.';)
    text[--end] = '\0';
  return true;
}

/* "0.485,0.456,0.406", or "" where it is no list of such. */
static void put_numbers(const heed_pickle_heap *heap, heed_pickle_id id, char text[MOST_TEXT]) {
  const heed_pickle_value *list = heed_pickle_get(heap, id);
  for (uint32_t cell = list->first; cell; cell = heap->cells[cell].next)
    if (!put_number(heap, heap->cells[cell].value, text, MOST_TEXT)) {
      *text = '\0';
      return;
    }
}

static heed_status note(noting *n, heed_pickle_id id, heed_error *error) {
  const heed_pickle_kind kind = heed_pickle_kind_of(n->heap, id);
  const heed_training_fact fact = heed_training_word(n->path);
  const bool marks = fact == HEED_TRAINING_MARK,
             lists = fact == HEED_TRAINING_MEAN || fact == HEED_TRAINING_STD;
  char text[MOST_TEXT] = "";
  if (lists && (kind == HEED_PICKLE_LIST || kind == HEED_PICKLE_TUPLE))
    put_numbers(n->heap, id, text);
  else if (lists)
    put_number(n->heap, id, text, sizeof text);
  else if (kind == HEED_PICKLE_INTEGER)
    snprintf(text, sizeof text, "%" PRId64, heed_pickle_get(n->heap, id)->number);
  else if (kind == HEED_PICKLE_TEXT && strlen(heed_pickle_text(n->heap, id)) < sizeof text)
    memcpy(text, heed_pickle_text(n->heap, id), strlen(heed_pickle_text(n->heap, id)) + 1);
  if ((!*text && !marks) || !heed_utf8_valid(text, strlen(text)) || n->count == MOST_NOTES)
    return HEED_OK;
  for (uint32_t i = 0; i < n->count; i++)
    if (strcmp(n->noted[i], n->path) == 0) return HEED_OK;
  memcpy(n->noted[n->count++], n->path, sizeof n->path);
  return heed_assembled_note(n->to, n->path, text, error);
}

static heed_status walk(noting *n, heed_pickle_id id, size_t length, uint32_t depth,
                        heed_error *error);

static heed_status visit(noting *n, const heed_pickle_cell *cell, size_t length, uint32_t depth,
                         heed_error *error) {
  const char *name = heed_pickle_text(n->heap, cell->key);
  const size_t bytes = strlen(name);
  if (!bytes || length + bytes + 2 > sizeof n->path || !heed_utf8_valid(name, bytes) ||
      strchr(name, '.') || n->visits++ > MOST_VISITS)
    return HEED_OK;
  memcpy(n->path + length, name, bytes + 1);
  if (heed_training_word(name) != HEED_TRAINING_FACTS) HEED_TRY(note(n, cell->value, error));
  if (!is_container(heed_pickle_kind_of(n->heap, cell->value)) || depth == MOST_DEPTH ||
      !has_arguments(name, depth))
    return HEED_OK;
  n->path[length + bytes] = '.';
  return walk(n, cell->value, length + bytes + 1, depth + 1, error);
}

/* The entries of a dictionary, and the attributes of an object such as argparse's Namespace. */
static heed_status walk(noting *n, heed_pickle_id id, size_t length, uint32_t depth,
                        heed_error *error) {
  const heed_pickle_value *value = heed_pickle_get(n->heap, id);
  const heed_pickle_id state =
      value->kind == HEED_PICKLE_OBJECT &&
              heed_pickle_kind_of(n->heap, value->state) == HEED_PICKLE_DICT
          ? value->state
          : 0;
  for (uint32_t cell = value->first; cell; cell = n->heap->cells[cell].next)
    HEED_TRY(visit(n, &n->heap->cells[cell], length, depth, error));
  for (uint32_t cell = state ? heed_pickle_get(n->heap, state)->first : 0; cell;
       cell = n->heap->cells[cell].next)
    HEED_TRY(visit(n, &n->heap->cells[cell], length, depth, error));
  return HEED_OK;
}

heed_status heed_training_note(const heed_pickle_heap *heap, heed_pickle_id root,
                               heed_assembled *to, heed_error *error) {
  noting n = {.heap = heap, .to = to, .path = HEED_TRAINING};
  if (heed_pickle_kind_of(heap, root) != HEED_PICKLE_DICT) return HEED_OK;
  return walk(&n, root, sizeof HEED_TRAINING - 1, 0, error);
}
