/* See patches.h. */
#include "explain/methods/patches.h"

#include "base/alloc.h"
#include "base/status.h"

static heed_value states_of(const heed_explain_run *run, const heed_pass *pass) {
  return run->desc->layer_given ? heed_pass_states(pass, run->desc->layer + 1)
                                : heed_graph_find(pass->graph, "last_hidden_state");
}

heed_status heed_patches_keep(const heed_explain_run *run, heed_pass *pass, const char *what,
                              heed_error *error) {
  if (run->desc->layer_given && run->desc->layer >= run->info.layers)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: layer out of range (found %u, expected less than %u)", what,
                     run->desc->layer, run->info.layers);
  return heed_pass_keep(run, pass, states_of(run, pass), what, error);
}

heed_status heed_patches_read(const heed_explain_run *run, const heed_pass *pass, uint32_t b,
                              float **states, heed_error *error) {
  const size_t width = run->info.width, tokens = pass->tokens,
               patches = (size_t)pass->rows * pass->columns, count = patches * width;
  *states = heed_alloc_raw(run->context, count, sizeof **states);
  if (!*states) return heed_fail_memory(error, "patches", count * sizeof **states);
  return heed_session_read(pass->session, states_of(run, pass),
                           (b * tokens + tokens - patches) * width, count, *states, error);
}
