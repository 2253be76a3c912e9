/* See explainer.h. */
#include "explain/explainer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/backward.h"

struct heed_explainer {
  heed_context *context;
  heed_pass pass;         /* graph NULL: none */
  heed_backward backward; /* with a session: the pass itself has none */
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
  heed_backward_close(&run, &explainer->backward);
  heed_free(explainer->context, explainer->words);
  explainer->pass = (heed_pass){.graph = NULL};
  explainer->words = NULL;
}

void heed_explainer_destroy(heed_explainer *explainer) {
  if (!explainer) return;
  drop(explainer);
  heed_free(explainer->context, explainer);
}

/* Whether the explanation is of the reverse pass alone, whose seed may be that of any class. */
static bool is_of_classes(const heed_explain_run *run, const heed_backward *backward) {
  return backward->session && run->target.kind == HEED_TARGET_LOGIT;
}

/* Methods and target, a line each; NULL without memory. */
static char *words_of(const heed_explain_run *run, const heed_backward *backward) {
  const char *target = is_of_classes(run, backward) ? "a class"
                       : run->desc->target          ? run->desc->target
                                                    : "";
  const size_t methods = strlen(run->desc->methods), size = methods + strlen(target) + 2;
  char *words = heed_alloc_raw(run->context, size, 1);
  if (!words) return NULL;
  memcpy(words, run->desc->methods, methods);
  words[methods] = '\n';
  memcpy(words + methods + 1, target, size - methods - 1);
  return words;
}

static bool fits(const heed_explainer *kept, const heed_explain_run *run) {
  const uint32_t *dim = heed_explain_find(run, "pixel_values")->shape.dim;
  char *words = words_of(run, &kept->backward);
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
  const bool found = !source && !run->target.texts && fits(kept, run);
  if (found) {
    run->pass = kept->pass;
    run->backward = kept->backward;
    kept->pass = (heed_pass){.graph = NULL};
    kept->backward = (heed_backward){.graph = NULL};
  }
  drop(kept);
  return found;
}

void heed_explainer_give(heed_explain_run *run) {
  heed_explainer *kept = run->desc->explainer;
  /* Beside the pass, what the next one needs would not be there. */
  const bool besides = run->source.graph || run->texts.graph || run->target.texts ||
                       (run->backward.count && run->pass.session);
  if (!kept || besides || !(kept->words = words_of(run, &run->backward))) return;
  kept->model = run->desc->model;
  kept->backend = run->desc->backend;
  kept->layer_given = run->desc->layer_given;
  kept->layer = run->desc->layer;
  kept->pass = run->pass;
  kept->backward = run->backward;
  run->pass = (heed_pass){.graph = NULL};
  run->backward = (heed_backward){.graph = NULL};
}
