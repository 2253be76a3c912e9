/* See explainer.h. */
#include "explain/explainer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"

struct heed_explainer {
  heed_context *context;
  heed_pass pass; /* graph NULL: none */
  const heed_model *model;
  heed_backend *backend;
  char *words; /* methods and target */
  bool layer_given;
  uint32_t layer;
};

heed_status heed_explainer_create(heed_context *context, heed_explainer **explainer,
                                  heed_error *error) {
  heed_explainer *made = heed_alloc(context, 1, sizeof *made);
  *explainer = made;
  if (!made) return heed_fail_memory(error, "explainer", sizeof *made);
  made->context = context;
  return HEED_OK;
}

static void drop(heed_explainer *explainer) {
  const heed_explain_run run = {.context = explainer->context};
  heed_pass_close(&run, &explainer->pass);
  heed_free(explainer->context, explainer->words);
  explainer->pass = (heed_pass){.graph = NULL};
  explainer->words = NULL;
}

void heed_explainer_destroy(heed_explainer *explainer) {
  if (!explainer) return;
  drop(explainer);
  heed_free(explainer->context, explainer);
}

/* Methods and target, a line each; NULL without memory. */
static char *words_of(const heed_explain_run *run) {
  const char *target = run->desc->target ? run->desc->target : "";
  const size_t methods = strlen(run->desc->methods), size = methods + strlen(target) + 2;
  char *words = heed_alloc_raw(run->context, size, 1);
  if (!words) return NULL;
  memcpy(words, run->desc->methods, methods);
  words[methods] = '\n';
  memcpy(words + methods + 1, target, size - methods - 1);
  return words;
}

/* Whether an explanation makes nothing besides its pass that the next one would need. */
static bool is_plain(const heed_explain_run *run, bool source) {
  return !source && !run->backward.count && !run->texts.graph && !run->target.texts;
}

static bool fits(const heed_explainer *kept, const heed_explain_run *run) {
  const uint32_t *dim = heed_explain_find(run, "pixel_values")->shape.dim;
  char *words = words_of(run);
  const bool same = words && strcmp(words, kept->words) == 0;
  heed_free(run->context, words);
  return same && kept->model == run->desc->model && kept->backend == run->desc->backend &&
         kept->layer_given == run->desc->layer_given && kept->layer == run->desc->layer &&
         dim[0] == kept->pass.batch && dim[1] == run->info.channels &&
         dim[2] == kept->pass.height && dim[3] == kept->pass.width;
}

bool heed_explainer_take(heed_explain_run *run, bool source) {
  heed_explainer *kept = run->desc->explainer;
  if (!kept || !kept->pass.graph) return false;
  const bool found = is_plain(run, source) && fits(kept, run);
  if (found) {
    run->pass = kept->pass;
    kept->pass = (heed_pass){.graph = NULL};
  }
  drop(kept);
  return found;
}

void heed_explainer_give(heed_explain_run *run) {
  heed_explainer *kept = run->desc->explainer;
  if (!kept || !is_plain(run, run->source.graph) || !(kept->words = words_of(run))) return;
  kept->model = run->desc->model;
  kept->backend = run->desc->backend;
  kept->layer_given = run->desc->layer_given;
  kept->layer = run->desc->layer;
  kept->pass = run->pass;
  run->pass = (heed_pass){.graph = NULL};
}
