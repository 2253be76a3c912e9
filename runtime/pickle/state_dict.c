/* The state dictionary in a checkpoint. See state_dict.h.
 *
 * Training scripts put it under a name, beside the optimizer's state, whose tensors lie under
 * numbers and in lists: neither is followed. Attributes of objects count as entries: so names come
 * out right for TorchScript, and for a whole module that was saved, whose dictionaries _parameters,
 * _buffers and _modules add nothing to a name. */
#include "pickle/state_dict.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "pickle/copies.h"

#define MAX_DEPTH 32u
#define MAX_VISITS (1u << 22) /* dictionaries may share others many times over */
#define MAX_TENSORS (1u << 20)
#define MAX_NAMES (32u << 20) /* bytes of all names */

/* Where checkpoints have their weights; of as many tensors in two, the first. */
static const char *const wrappers[] = {"model",   "state_dict", "model_state_dict",
                                       "module",  "model_ema",  "teacher",
                                       "student", "encoder",    "backbone"};
#define WRAPPER_COUNT (sizeof wrappers / sizeof *wrappers)

typedef struct walk {
  const heed_pickle_heap *heap;
  heed_state_dict *to; /* NULL: tensors are only counted */
  heed_error *error;
  const char *under; /* of `to`: the path to what is taken and judged; NULL: all names, unjudged */
  uint32_t visits, tensors, left_out;
  char first_left_out[256];
  char path[HEED_PICKLE_NAME_SIZE];
} walk;

typedef struct place {
  heed_pickle_id dict;
  uint32_t tensors;
  char origin[64];
  const char *rival; /* another entry with as many, or NULL */
} place;

static bool is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

static bool is_container(heed_pickle_kind kind) {
  return kind == HEED_PICKLE_DICT || kind == HEED_PICKLE_OBJECT;
}

/* ------------------------------------------------------------------------------------------- names
 */

static heed_status fail_name(const walk *w, const char *found) {
  return heed_fail(w->error, HEED_INVALID_FILE,
                   "%s: invalid name of a tensor (found %s after \"%.*s\", expected UTF-8 of less "
                   "than %u bytes)",
                   w->heap->where, found, HEED_CUT(w->path), HEED_PICKLE_NAME_SIZE);
}

/* Adds a part to the path, which is `*length` long. */
static heed_status add_part(walk *w, heed_pickle_id key, bool is_module, size_t *length) {
  static const char *const silent[] = {"_parameters", "_buffers", "_modules"};
  const char *name = heed_pickle_text(w->heap, key);
  const size_t bytes = (size_t)heed_pickle_get(w->heap, key)->number;
  if (is_module && is_one_of(name, silent, sizeof silent / sizeof *silent)) return HEED_OK;
  if (strlen(name) != bytes || !heed_utf8_valid(name, bytes))
    return fail_name(w, "a zero byte or no UTF-8");
  if (*length + bytes + 2 > sizeof w->path) return fail_name(w, "a long text");
  if (*length) w->path[(*length)++] = '.';
  memcpy(w->path + *length, name, bytes + 1);
  *length += bytes;
  return HEED_OK;
}

static bool is_taken(const walk *w) {
  const char *rest;
  return !w->under || heed_copies_under(w->path, w->under, &rest);
}

static heed_status add_tensor(walk *w, heed_pickle_id tensor, size_t length) {
  heed_state_dict *to = w->to;
  w->tensors++;
  if (!to || !is_taken(w)) return HEED_OK;
  const size_t at = to->count;
  if (at == MAX_TENSORS || to->name_bytes + length >= MAX_NAMES)
    return heed_fail(w->error, HEED_UNSUPPORTED,
                     "%s: too many tensors, or too long names (expected at most %u, and %u bytes)",
                     w->heap->where, MAX_TENSORS, MAX_NAMES);
  if (!heed_grow(to->context, &to->entries, &to->entry_capacity, at + 1, sizeof *to->entries) ||
      !heed_grow(to->context, &to->names, &to->name_capacity, to->name_bytes + length + 1, 1))
    return heed_fail_memory(w->error, w->heap->where, at * sizeof *to->entries + to->name_bytes);
  to->entries[to->count++] = (heed_state_entry){to->name_bytes, tensor};
  memcpy(to->names + to->name_bytes, w->path, length + 1);
  to->name_bytes += length + 1;
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------------- walk
 */

static heed_status walk_container(walk *w, heed_pickle_id id, size_t length, uint32_t depth,
                                  bool without_wrappers);

/* "a sparse tensor", by the name of the function that makes it. */
static const char *kind_of_tensor(const char *callable) {
  static const char *const kinds[][2] = {{"sparse", "a sparse tensor"},
                                         {"qtensor", "a quantised tensor"},
                                         {"nested", "a nested tensor"},
                                         {"meta", "a tensor without data"},
                                         {"mkldnn", "a tensor in the layout of oneDNN"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strstr(callable, kinds[i][0])) return kinds[i][1];
  return "a tensor of another kind";
}

/* What should be a tensor, by what makes it or what it is made of, and is none that is read. */
static heed_status check_object(const walk *w, heed_pickle_id id) {
  static const char rebuild[] = "torch._utils._rebuild_";
  const heed_pickle_value *value = heed_pickle_get(w->heap, id);
  const char *callable = heed_pickle_text(w->heap, value->of);
  if (!w->to || !w->under || !is_taken(w)) return HEED_OK;
  if (strncmp(callable, rebuild, sizeof rebuild - 1) == 0)
    return heed_fail(w->error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s is not supported (found one of %.*s, %s, expected a dense "
                     "one)",
                     w->heap->where, HEED_CUT(w->path), HEED_CUT(callable),
                     kind_of_tensor(callable));
  if (value->tag)
    return heed_fail(w->error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s is not supported (found a call of %.*s, which heed does not "
                     "run, expected a tensor as it is stored)",
                     w->heap->where, HEED_CUT(w->path), HEED_CUT(callable));
  return HEED_OK;
}

/* An object without tensors among them, such as an array of numpy: it is no weight here, which is
 * said where it may be meant as one. */
static void note_left_out(walk *w, heed_pickle_id id) {
  const char *callable = heed_pickle_text(w->heap, heed_pickle_get(w->heap, id)->of);
  const bool is_array = strncmp(callable, "numpy.", 6) == 0 && strstr(callable, "_reconstruct");
  const bool is_made = strncmp(callable, "torch.", 6) == 0 && !strstr(callable, ".modules.") &&
                       !strstr(callable, ".optim.") && strcmp(callable, "torch.device") != 0;
  if ((is_array || is_made) && w->left_out++ == 0)
    snprintf(w->first_left_out, sizeof w->first_left_out, "%.*s, made by %.*s", HEED_CUT(w->path),
             HEED_CUT(callable));
}

static heed_status visit(walk *w, const heed_pickle_cell *cell, bool is_module, size_t length,
                         uint32_t depth, bool without_wrappers) {
  const heed_pickle_kind kind = heed_pickle_kind_of(w->heap, cell->value);
  if (++w->visits > MAX_VISITS)
    return heed_fail(w->error, HEED_UNSUPPORTED,
                     "%s: too many entries in its dictionaries (expected at most %u)",
                     w->heap->where, MAX_VISITS);
  if (heed_pickle_kind_of(w->heap, cell->key) != HEED_PICKLE_TEXT) return HEED_OK;
  if (kind != HEED_PICKLE_TENSOR && !is_container(kind)) return HEED_OK;
  if (without_wrappers && is_container(kind) &&
      is_one_of(heed_pickle_text(w->heap, cell->key), wrappers, WRAPPER_COUNT))
    return HEED_OK;
  HEED_TRY(add_part(w, cell->key, is_module, &length));
  if (kind == HEED_PICKLE_TENSOR) return add_tensor(w, cell->value, length);
  if (kind == HEED_PICKLE_OBJECT) HEED_TRY(check_object(w, cell->value));
  const uint32_t before = w->tensors;
  HEED_TRY(walk_container(w, cell->value, length, depth + 1, false));
  w->path[length] = '\0';
  if (w->to && w->under && kind == HEED_PICKLE_OBJECT && w->tensors == before && is_taken(w))
    note_left_out(w, cell->value);
  return HEED_OK;
}

static heed_status walk_container(walk *w, heed_pickle_id id, size_t length, uint32_t depth,
                                  bool without_wrappers) {
  const heed_pickle_value *value = heed_pickle_get(w->heap, id);
  const bool is_object = value->kind == HEED_PICKLE_OBJECT;
  if (depth > MAX_DEPTH)
    return heed_fail(w->error, HEED_UNSUPPORTED,
                     "%s: dictionaries are nested too deeply (expected at most %u levels)",
                     w->heap->where, MAX_DEPTH);
  for (uint32_t cell = value->first; cell; cell = w->heap->cells[cell].next)
    HEED_TRY(visit(w, &w->heap->cells[cell], false, length, depth, without_wrappers));
  if (!is_object || heed_pickle_kind_of(w->heap, value->state) != HEED_PICKLE_DICT) return HEED_OK;
  const uint32_t first = heed_pickle_get(w->heap, value->state)->first;
  for (uint32_t cell = first; cell; cell = w->heap->cells[cell].next)
    HEED_TRY(visit(w, &w->heap->cells[cell], true, length, depth, false));
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ choice
 */

static heed_status count_tensors(walk *w, heed_pickle_id id, uint32_t *tensors) {
  w->tensors = 0;
  HEED_TRY(walk_container(w, id, 0, 0, heed_pickle_kind_of(w->heap, id) == HEED_PICKLE_DICT));
  *tensors = w->tensors;
  return HEED_OK;
}

/* The best of what lies under the names of `here`, which is two levels deep at most:
 * {"model": {"module": ...}}. */
static heed_status choose(walk *w, const place *here, uint32_t depth, place *best) {
  *best = *here;
  HEED_TRY(count_tensors(w, here->dict, &best->tensors));
  for (size_t i = 0; i < WRAPPER_COUNT && depth < 3; i++) {
    const heed_pickle_id inner = heed_pickle_entry(w->heap, here->dict, wrappers[i]);
    place candidate = {.dict = inner}, found;
    if (!is_container(heed_pickle_kind_of(w->heap, inner))) continue;
    snprintf(candidate.origin, sizeof candidate.origin, "%.40s%s%.20s", here->origin,
             here->origin[0] ? "." : "", wrappers[i]);
    HEED_TRY(choose(w, &candidate, depth + 1, &found));
    if (found.tensors > best->tensors)
      *best = found;
    else if (found.tensors && found.tensors == best->tensors)
      best->rival = wrappers[i];
  }
  return HEED_OK;
}

/* The names of all entries of a checkpoint without tensors are what helps; two are enough. */
static heed_status fail_empty(const heed_pickle_heap *heap, heed_pickle_id root,
                              heed_error *error) {
  char found[HEED_PICKLE_DESCRIPTION];
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: no tensors (found %s, expected a dictionary of tensors, as "
                   "torch.save(model.state_dict(), …) writes it)",
                   heap->where, heed_pickle_describe(heap, root, found));
}

/* ------------------------------------------------------------------------------------------
 * prefixes */

static bool all_begin(const heed_state_dict *dict, const char *prefix) {
  const size_t length = strlen(prefix);
  for (uint32_t i = 0; i < dict->count; i++) {
    const char *name = heed_state_dict_name(dict, i);
    if (strncmp(name, prefix, length) != 0 || !name[length]) return false;
  }
  return dict->count > 0;
}

/* What wrappers put before all names. A shard of Hugging Face, whose index has its names as they
 * are, may begin with "model.", but is never under an entry. */
static void strip_prefixes(heed_state_dict *dict) {
  static const char *const prefixes[] = {"module.", "_orig_mod.", "model."};
  const size_t count = dict->origin[0] ? 3 : 2;
  for (size_t i = 0; i < count; i++) {
    if (!all_begin(dict, prefixes[i])) continue;
    for (uint32_t k = 0; k < dict->count; k++) dict->entries[k].name += strlen(prefixes[i]);
    i = (size_t)-1; /* from the first again */
  }
}

static heed_status walk_root(walk *w, heed_pickle_id root, heed_state_dict *to, const char *under) {
  w->to = to;
  w->under = under;
  w->path[0] = '\0';
  return walk_container(w, root, 0, 0, false);
}

/* What was taken where it could have been another thing, or no tensor. */
static void say_choice(const walk *w, const place *best, const heed_copies *copies) {
  const heed_pickle_heap *heap = w->heap;
  if (copies->custom)
    heed_log(heap->context, HEED_LOG_WARNING,
             "%s: the weights of its entry \"%s\" are used, by the custom of %s (found \"%s\" "
             "too; " HEED_WEIGHTS_KEY " another)",
             heap->where, copies->path, copies->custom, copies->rival);
  else if (best->rival && strcmp(copies->path, best->origin) == 0)
    heed_log(heap->context, HEED_LOG_WARNING,
             "%s: the weights of its entry \"%s\" are used (\"%s\" has as many tensors)",
             heap->where, best->origin[0] ? best->origin : "(the whole)", best->rival);
  if (w->left_out)
    heed_log(heap->context, HEED_LOG_WARNING, "%s: left out: %u of its entries, which %s (%s)",
             heap->where, w->left_out, w->left_out == 1 ? "is no tensor" : "are no tensors",
             w->first_left_out);
}

heed_status heed_state_dict_find(const heed_pickle_heap *heap, heed_pickle_id root, const char *key,
                                 heed_state_dict *dict, heed_error *error) {
  walk w = {.heap = heap, .error = error};
  const place here = {.dict = root};
  place best;
  heed_copies copies;
  heed_state_dict all = {.context = heap->context};
  *dict = all;
  if (!is_container(heed_pickle_kind_of(heap, root))) return fail_empty(heap, root, error);
  HEED_TRY(choose(&w, &here, 0, &best));
  /* of as many tensors under an entry as in the rest, the entry may be the model */
  const char *model = best.origin[0] || !best.rival ? best.origin : best.rival;
  heed_status status = walk_root(&w, root, &all, NULL);
  if (status == HEED_OK) status = heed_copies_choose(heap, &all, model, key, &copies, error);
  heed_state_dict_free(&all);
  if (status != HEED_OK) return status;
  if (!copies.custom && !key) memcpy(copies.path, best.origin, sizeof best.origin);
  HEED_TRY(walk_root(&w, root, dict, copies.path));
  if (dict->count == 0) return fail_empty(heap, root, error);
  const size_t outer = copies.path[0] ? strlen(copies.path) + 1 : 0;
  for (uint32_t i = 0; i < dict->count; i++) dict->entries[i].name += outer;
  snprintf(dict->origin, sizeof dict->origin, "%.*s", heed_utf8_cut(copies.path, 63), copies.path);
  say_choice(&w, &best, &copies);
  strip_prefixes(dict);
  return HEED_OK;
}

void heed_state_dict_free(heed_state_dict *dict) {
  heed_free(dict->context, dict->entries);
  heed_free(dict->context, dict->names);
  *dict = (heed_state_dict){.context = dict->context};
}
