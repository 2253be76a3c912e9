/* Copies of a model. See copies.h.
 *
 * Two names are of copies where they differ in one entry that a maker's scripts have for that:
 * "state_dict_ema.norm.weight" and "state_dict.norm.weight". What wraps a module for training
 * ("module.") is not looked at. */
#include "pickle/copies.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"

#define MOST_OUTER 8u  /* entries around a copy */
#define LEAST_TWINS 4u /* tensors that make a copy */

/* Loops of no known maker keep an average beside the weights, which is what timm evaluates. */
#define AVERAGE "timm, which takes averages"

/* Which of two the maker's own scripts load; later rows look under what earlier ones found. */
static const struct {
  const char *better, *worse, *custom;
} customs[] = {{"state_dict_ema", "state_dict", "timm"},
               {"model", "model_ema", "DeiT, while timm loads \"model_ema\""},
               {"ema", "model", "DiT and RT-DETR"},
               {"ema_state_dict", "state_dict", AVERAGE},
               {"ema_state_dict", "model_state_dict", AVERAGE},
               {"ema_state_dict", "model", AVERAGE},
               {"model_ema_state_dict", "model_state_dict", AVERAGE},
               {"model_state_dict_ema", "model_state_dict", AVERAGE},
               {"ema", "state_dict", AVERAGE},
               {"ema", "net", AVERAGE},
               {"ema_net", "net", AVERAGE},
               {"net_ema", "net", AVERAGE},
               {"ema_model", "model", AVERAGE},
               {"ema_network", "network", AVERAGE},
               {"ema_model", "online_model", "ema-pytorch"},
               {"ema.ema_model", "model", "ema-pytorch"},
               {"params_ema", "params", "BasicSR"},
               {"teacher_model", "student_model", "DINO"},
               {"model_teacher", "model_student", "DINO"},
               {"teacher", "student", "DINO"},
               {"target_encoder", "encoder", "I-JEPA"},
               {"base_encoder", "momentum_encoder", "MoCo v3"},
               {"encoder_q", "encoder_k", "MoCo"},
               {"online_network", "target_network", "BYOL"},
               {"online_encoder", "target_encoder", "BYOL"},
               {"online", "target", "BYOL"}};
#define CUSTOMS (sizeof customs / sizeof *customs)

typedef struct names {
  const heed_state_dict *all;
  char *text;       /* all names without wrappers */
  size_t *at;       /* [all->count] in text */
  uint32_t *sorted; /* [all->count] */
} names;

static const char *plain(const names *n, uint32_t index) { return n->text + n->at[index]; }

static bool before(const void *user, uint32_t a, uint32_t b) {
  const int order = strcmp(plain(user, a), plain(user, b));
  return order ? order < 0 : a < b;
}

/* Copies a name without the parts of wrappers; its length with the zero byte. */
static size_t copy_plain(const char *name, char *to) {
  char *end = to;
  while (*name) {
    const size_t length = strcspn(name, ".");
    const bool wraps = (length == 6 && strncmp(name, "module", 6) == 0) ||
                       (length == 9 && strncmp(name, "_orig_mod", 9) == 0);
    if (!wraps || !name[length]) {
      if (end > to) *end++ = '.';
      memcpy(end, name, length);
      end += length;
    }
    name += length + (name[length] == '.');
  }
  *end = '\0';
  return (size_t)(end - to) + 1;
}

static heed_status open_names(names *n, const char *where, heed_error *error) {
  const heed_context *context = n->all->context;
  const size_t count = (size_t)n->all->count + 1;
  size_t used = 0;
  n->text = heed_alloc_raw(context, n->all->name_bytes + 1, 1);
  n->at = heed_alloc(context, count, sizeof *n->at);
  n->sorted = heed_alloc(context, count, sizeof *n->sorted);
  if (!n->text || !n->at || !n->sorted)
    return heed_fail_memory(error, where, n->all->name_bytes + count * sizeof *n->at);
  for (uint32_t i = 0; i < n->all->count; i++) {
    n->at[i] = used;
    n->sorted[i] = i;
    used += copy_plain(heed_state_dict_name(n->all, i), n->text + used);
  }
  heed_sort(n->sorted, n->all->count, before, n);
  return HEED_OK;
}

static void close_names(names *n) {
  heed_free(n->all->context, n->text);
  heed_free(n->all->context, n->at);
  heed_free(n->all->context, n->sorted);
}

/* The tensor of this name; all->count: none. */
static uint32_t find(const names *n, const char *name) {
  uint32_t low = 0, high = n->all->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order = strcmp(name, plain(n, n->sorted[middle]));
    if (order == 0) return n->sorted[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return n->all->count;
}

/* Where a whole part of a name is this word, or NULL. */
static const char *find_part(const char *name, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = name; at; at = strchr(at, '.'), at = at ? at + 1 : NULL)
    if (strncmp(at, word, length) == 0 && at[length] == '.') return at;
  return NULL;
}

bool heed_copies_under(const char *name, const char *path, const char **rest) {
  const size_t length = strlen(path);
  *rest = length ? name + length + 1 : name;
  return !length || (strncmp(name, path, length) == 0 && name[length] == '.');
}

/* How many tensors under `path` have a twin by a custom; *twin is the first of the better ones. */
static uint32_t count_twins(const names *n, size_t custom, const char *path, uint32_t *twin) {
  char name[2 * HEED_PICKLE_NAME_SIZE];
  const char *worse = customs[custom].worse, *rest;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->all->count; i++) {
    const char *from = plain(n, i), *part;
    if (!heed_copies_under(heed_state_dict_name(n->all, i), path, &rest)) continue;
    if (!(part = find_part(from, worse))) continue;
    snprintf(name, sizeof name, "%.*s%s%s", (int)(part - from), from, customs[custom].better,
             part + strlen(worse));
    const uint32_t found = find(n, name);
    if (found == n->all->count) continue;
    if (count++ == 0) *twin = found;
  }
  return count;
}

/* Goes down to the copies that makers' scripts load. */
static void follow_customs(const names *n, heed_copies *copies) {
  for (size_t i = 0; i < CUSTOMS; i++) {
    uint32_t twin = 0;
    if (count_twins(n, i, copies->path, &twin) < LEAST_TWINS) continue;
    const char *name = heed_state_dict_name(n->all, twin),
               *part = find_part(name, customs[i].better);
    if (!part) continue;
    const int length = (int)(part - name) + (int)strlen(customs[i].better);
    if ((size_t)length <= strlen(copies->path)) continue;
    snprintf(copies->path, sizeof copies->path, "%.*s", length, name);
    copies->rival = customs[i].worse;
    copies->custom = customs[i].custom;
  }
}

/* A tensor outside of `best` whose name ends as that of one in it: the first of as many as half of
 * these; all->count: there are not so many. */
static uint32_t find_rival(const names *n, const char *best) {
  char name[2 * HEED_PICKLE_NAME_SIZE], path[HEED_PICKLE_NAME_SIZE];
  const char *rest;
  uint32_t inside = 0, twins = 0, first = n->all->count;
  copy_plain(best, path);
  for (uint32_t i = 0; i < n->all->count; i++) {
    const char *at = plain(n, i);
    if (heed_copies_under(at, path, &rest)) {
      inside++;
      continue;
    }
    bool is_twin = false;
    uint32_t left = MOST_OUTER;
    for (at = strchr(at, '.'); at && !is_twin && left > 0; at = strchr(at + 1, '.'), left--) {
      snprintf(name, sizeof name, "%s%s", path, at);
      is_twin = strchr(at + 1, '.') && find(n, name) < n->all->count;
    }
    if (is_twin && twins++ == 0) first = i;
  }
  return twins >= LEAST_TWINS && twins >= inside / 2 ? first : n->all->count;
}

static heed_status refuse_several(const heed_pickle_heap *heap, const char *best, const char *rival,
                                  heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: several copies of a model (found \"%s\" and that of %.*s, expected "
                   "one; " HEED_WEIGHTS_KEY " the entry)",
                   heap->where, best, HEED_CUT(rival));
}

/* The entries of the whole file, for a sentence. */
static void list_entries(const heed_state_dict *all, char to[200]) {
  size_t used = 0;
  to[0] = '\0';
  for (uint32_t i = 0; i < all->count; i++) {
    const char *name = heed_state_dict_name(all, i);
    const size_t length = strcspn(name, ".");
    bool is_new = name[length] == '.';
    for (uint32_t k = 0; k < i && k < 64 && is_new; k++)
      is_new = strncmp(heed_state_dict_name(all, k), name, length + 1) != 0;
    if (i && is_new && strncmp(heed_state_dict_name(all, i - 1), name, length + 1) == 0) continue;
    if (!is_new || used + length + 3 >= 160) continue;
    used += (size_t)snprintf(to + used, 200 - used, "%s%.*s", used ? ", " : "", (int)length, name);
  }
}

static heed_status follow_key(const heed_pickle_heap *heap, const heed_state_dict *all,
                              const char *key, heed_copies *copies, heed_error *error) {
  char entries[200];
  const char *rest;
  if (strcmp(key, ".") == 0) return HEED_OK;
  for (uint32_t i = 0; i < all->count && strlen(key) < sizeof copies->path; i++) {
    const char *name = heed_state_dict_name(all, i);
    if (!heed_copies_under(name, key, &rest)) continue;
    snprintf(copies->path, sizeof copies->path, "%s", key);
    return HEED_OK;
  }
  for (uint32_t i = 0; i < all->count; i++) {
    const char *name = heed_state_dict_name(all, i), *part = find_part(name, key);
    if (!part) continue;
    snprintf(copies->path, sizeof copies->path, "%.*s", (int)(part - name + (int)strlen(key)),
             name);
    return HEED_OK;
  }
  list_entries(all, entries);
  return heed_fail(
      error, HEED_INVALID_FILE,
      "%s: no weights under that key (found \"%.*s\", expected one of its entries: %s)",
      heap->where, HEED_CUT(key), entries);
}

heed_status heed_copies_choose(const heed_pickle_heap *heap, const heed_state_dict *all,
                               const char *best, const char *key, heed_copies *copies,
                               heed_error *error) {
  names n = {.all = all};
  *copies = (heed_copies){.rival = NULL};
  if (key) return follow_key(heap, all, key, copies, error);
  heed_status status = open_names(&n, heap->where, error);
  if (status == HEED_OK) follow_customs(&n, copies);
  if (status == HEED_OK && !copies->custom && *best) {
    const uint32_t rival = find_rival(&n, best);
    const char *name = rival < all->count ? heed_state_dict_name(all, rival) : NULL;
    const bool is_lightning = name && strncmp(name, "callbacks.", 10) == 0;
    if (is_lightning) {
      copies->rival = "callbacks";
      copies->custom = "Lightning";
      snprintf(copies->path, sizeof copies->path, "%s", best);
    } else if (name)
      status = refuse_several(heap, best, name, error);
  }
  close_names(&n);
  return status;
}
