/* States that attentions read. See states.h. A value that is made of one state alone belongs to it;
 * one that is made of several, as a sum behind a layer is, begins another. */
#include "onnx/vision/states.h"

#include "onnx/file/attention_finder.h"

typedef heed_lower_value value;

/* What begins a state of its own, whatever it is made of. */
static bool begins(const value *v, const value *from) {
  switch (v->kind) {
    case HEED_LOWER_INPUT:
    case HEED_LOWER_ATTENTION:
    case HEED_LOWER_PATCHES: return true;
    case HEED_LOWER_SOFTMAX: return v->owner || v->axis != UINT32_MAX;
    case HEED_LOWER_LINEAR: return from && from->kind == HEED_LOWER_INPUT; /* pixels as tokens */
    case HEED_LOWER_NORM: return !from || from->kind != HEED_LOWER_NORM; /* not of queries, keys */
    default: return false;
  }
}

static const value *state_of(const value **states, const value *v) {
  const value *found = NULL;
  if (v->owner) return v;
  for (uint32_t i = 0; i < v->count; i++) {
    const value *state = states[v->x[i]->at];
    if (!state) continue;
    if (found && state != found) return v;
    found = state;
  }
  if (begins(v, found)) return v;
  for (uint32_t i = 0; i < v->count && v->kind == HEED_LOWER_BINARY; i++)
    if (v->x[i] == found && states[v->x[1 - i]->at]) return v; /* x + f(x) */
  return found;
}

const value **heed_states_find(heed_lower *l) {
  const value **states = heed_lower_take(l, (uint64_t)l->order_count + 1, sizeof *states),
              **found = heed_lower_take(l, (uint64_t)l->file->attentions->count + 1, sizeof *found);
  for (size_t i = 0; states && found && i < l->order_count; i++) {
    const value *v = l->order[i];
    const heed_lower_attention *a = v->kind == HEED_LOWER_ATTENTION ? v->attention : NULL;
    states[i] = state_of(states, v);
    if (a && a->found != UINT32_MAX) {
      const value *query = states[a->query->at];
      const bool one = states[a->key->at] == query && states[a->value->at] == query;
      found[a->found] = one && query ? query : v;
    }
    if (v->kind == HEED_LOWER_SOFTMAX && !v->owner && v->axis != UINT32_MAX)
      found[v->axis] = states[v->x[0]->at];
  }
  return found;
}
