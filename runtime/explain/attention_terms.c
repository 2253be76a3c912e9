/* Heads are read one after the other, so that no more than one map of each is held. */
#include "explain/attention_terms.h"

#include "base/alloc.h"
#include "base/status.h"
#include "explain/method.h"

static heed_status add_head(const heed_backward *backward, heed_value weights, heed_value gradient,
                            uint64_t first, size_t count, heed_terms kind, float *room, double *to,
                            heed_error *error) {
  HEED_TRY(heed_session_read(backward->session, weights, first, count, room, error));
  HEED_TRY(heed_session_read(backward->session, gradient, first, count, room + count, error));
  for (size_t i = 0; i < count; i++) {
    const double term = (double)room[i] * (double)room[count + i];
    if (kind == HEED_TERMS_MEAN || !(term <= 0.0)) to[i] += term;
  }
  return HEED_OK;
}

heed_status heed_attention_terms(const heed_explain_run *run, const heed_backward *backward,
                                 uint32_t layer, uint32_t b, heed_terms kind, double *to,
                                 heed_error *error) {
  const heed_value weights = heed_graph_tap(backward->graph, HEED_TAP_WEIGHTS, layer);
  heed_value gradient = {0};
  heed_value_info info;
  for (size_t i = 0; i < backward->count; i++)
    if (backward->wanted[i].id == weights.id) gradient = backward->gradients[i];
  HEED_TRY(heed_graph_value_info(backward->graph, weights, &info));
  const uint32_t heads = info.shape.dim[1];
  const size_t count = (size_t)info.shape.dim[2] * info.shape.dim[3];
  float *room = heed_alloc(run->context, 2 * count, sizeof *room);
  heed_status status =
      room ? HEED_OK : heed_fail_memory(error, "attention gradient", 2 * count * sizeof *room);
  for (size_t i = 0; i < count; i++) to[i] = 0.0;
  for (uint32_t h = 0; h < heads && status == HEED_OK; h++)
    status = add_head(backward, weights, gradient, ((uint64_t)b * heads + h) * count, count, kind,
                      room, to, error);
  for (size_t i = 0; i < count; i++) {
    to[i] /= heads;
    if (kind == HEED_TERMS_MEAN && to[i] < 0.0) to[i] = 0.0;
  }
  heed_free(run->context, room);
  return status;
}
