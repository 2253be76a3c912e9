/* Streams: a ring of slots with the inputs and outputs of a run each. A backend with a ring of its
 * own keeps them in flight; others run when an item is submitted, and the slot keeps its outputs
 * and its error until it is collected. */
#include <string.h>

#include "backend/session.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/desc.h"
#include "base/status.h"

#define MOST_IN_FLIGHT 8

typedef struct stream_slot {
  unsigned char *outputs; /* of a run that is over; NULL with a ring */
  heed_status status;
  heed_error error;
} stream_slot;

struct heed_stream {
  heed_session *session;
  heed_ring *ring; /* the backend's, or NULL */
  heed_span *inputs, *outputs;
  uint32_t input_count, output_count, size;
  uint32_t submitted, collected; /* so far, modulo 2^32 */
  stream_slot slots[MOST_IN_FLIGHT];
};

static const heed_backend_vtable *backend_of(const heed_stream *stream) {
  return stream->session->plan->backend->vtable;
}

static heed_status want_input(const heed_session *session, heed_value value, heed_error *error) {
  const heed_value_record *record = heed_graph_need(session->plan->graph, value, "stream", error);
  if (!record) return HEED_INVALID_ARGUMENT;
  if (record->kind == HEED_VALUE_INPUT) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "stream: %s is not an input (found a computed value or a constant)",
                   record->name ? record->name : "value");
}

/* Where the values lie. An input that nothing reads has no place: 0 bytes. */
static heed_status make_spans(const heed_stream *stream, const heed_value *values, uint32_t count,
                              bool inputs, heed_span **spans, heed_error *error) {
  const heed_plan *plan = stream->session->plan;
  *spans = heed_alloc(plan->context, (size_t)count + 1, sizeof **spans);
  if (!*spans) return heed_fail_memory(error, "stream", ((size_t)count + 1) * sizeof **spans);
  for (uint32_t i = 0; i < count; i++) {
    HEED_TRY(inputs ? want_input(stream->session, values[i], error)
                    : heed_session_want_kept(stream->session, values[i], error));
    const bool live = !inputs || plan->placement[values[i].id].live;
    (*spans)[i] = (heed_span){live ? heed_plan_offset(plan, values[i].id) : 0,
                              live ? heed_plan_bytes(plan, values[i].id) : 0};
  }
  return HEED_OK;
}

static heed_status make_slots(heed_stream *stream, heed_error *error) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < stream->output_count; i++)
    if (!heed_u64_add(bytes, stream->outputs[i].bytes, &bytes) || bytes > SIZE_MAX / 2)
      return heed_fail_memory(error, "stream", SIZE_MAX);
  for (uint32_t i = 0; i < stream->size; i++) {
    stream->slots[i].outputs = heed_alloc_raw(stream->session->plan->context, (size_t)bytes + 1, 1);
    if (!stream->slots[i].outputs) return heed_fail_memory(error, "stream", (size_t)bytes);
  }
  return HEED_OK;
}

static heed_status fill(heed_stream *stream, const heed_stream_desc *desc, heed_error *error) {
  HEED_TRY(make_spans(stream, desc->inputs, desc->input_count, true, &stream->inputs, error));
  HEED_TRY(make_spans(stream, desc->outputs, desc->output_count, false, &stream->outputs, error));
  stream->input_count = desc->input_count;
  stream->output_count = desc->output_count;
  if (!backend_of(stream)->ring_create) return make_slots(stream, error);
  const heed_spans in = {stream->inputs, stream->input_count},
                   out = {stream->outputs, stream->output_count};
  return backend_of(stream)->ring_create(stream->session->program, &in, &out, stream->size,
                                         &stream->ring, error);
}

heed_status heed_stream_create(heed_session *session, const heed_stream_desc *desc,
                               heed_stream **stream, heed_error *error) {
  if (!session || !desc || !stream)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "stream: NULL argument (expected session, desc and stream)");
  *stream = NULL;
  heed_stream_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "stream", error));
  desc = &full;
  const uint32_t size = desc->in_flight ? desc->in_flight : 2;
  if (size > MOST_IN_FLIGHT)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "stream: too many runs in flight (found %u, expected at most %d)", size,
                     MOST_IN_FLIGHT);
  if ((desc->input_count && !desc->inputs) || (desc->output_count && !desc->outputs))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "stream: NULL argument (expected inputs and outputs)");
  heed_stream *made = heed_alloc(session->plan->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "stream", sizeof *made);
  made->session = session;
  made->size = size;
  heed_status status = heed_backend_lock(session->plan->backend, "stream", error);
  if (status == HEED_OK) {
    status = fill(made, desc, error);
    heed_backend_unlock(session->plan->backend);
  }
  if (status != HEED_OK) {
    heed_stream_destroy(made);
    return status;
  }
  *stream = made;
  return HEED_OK;
}

void heed_stream_destroy(heed_stream *stream) {
  if (!stream) return;
  const heed_context *context = stream->session->plan->context;
  HEED_ASSERT(stream->session->in_flight >= stream->submitted - stream->collected);
  stream->session->in_flight -= stream->submitted - stream->collected;
  if (stream->ring && !heed_backend_is_forked(stream->session->plan->backend))
    backend_of(stream)->ring_destroy(stream->ring);
  for (uint32_t i = 0; i < stream->size; i++) heed_free(context, stream->slots[i].outputs);
  heed_free(context, stream->inputs);
  heed_free(context, stream->outputs);
  heed_free(context, stream);
}

/* For backends without a ring. */
static heed_status run_now(heed_stream *stream, stream_slot *slot, const void *const *inputs,
                           heed_error *error) {
  heed_program *program = stream->session->program;
  unsigned char *to = slot->outputs;
  for (uint32_t i = 0; i < stream->input_count; i++)
    if (stream->inputs[i].bytes)
      HEED_TRY(backend_of(stream)->write(program, stream->inputs[i].offset, inputs[i],
                                         (size_t)stream->inputs[i].bytes, error));
  HEED_TRY(backend_of(stream)->run(program, NULL, error));
  for (uint32_t i = 0; i < stream->output_count; to += stream->outputs[i++].bytes)
    HEED_TRY(backend_of(stream)->read(program, stream->outputs[i].offset, to,
                                      (size_t)stream->outputs[i].bytes, error));
  return HEED_OK;
}

heed_status heed_stream_submit(heed_stream *stream, const void *const *inputs, heed_error *error) {
  const uint32_t index = stream->submitted % stream->size,
                 waiting = stream->submitted - stream->collected;
  HEED_ASSERT(waiting <= stream->size);
  if (waiting == stream->size)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "stream: full; collect a run first (found %u runs in flight)", waiting);
  if (stream->session->in_flight != waiting)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "stream: another stream of this session has runs in flight");
  for (uint32_t i = 0; i < stream->input_count; i++)
    if (!inputs || !inputs[i])
      return heed_fail(error, HEED_INVALID_ARGUMENT, "stream: input %u is NULL", i);
  heed_backend *backend = stream->session->plan->backend;
  HEED_TRY(heed_backend_lock(backend, "stream", error));
  stream_slot *slot = &stream->slots[index];
  slot->status = stream->ring
                     ? backend_of(stream)->ring_submit(stream->ring, index, inputs, &slot->error)
                     : run_now(stream, slot, inputs, &slot->error);
  heed_backend_unlock(backend);
  stream->submitted++;
  stream->session->in_flight++;
  return HEED_OK;
}

static void copy_out(const heed_stream *stream, const stream_slot *slot, void *const *outputs) {
  const unsigned char *from = slot->outputs;
  for (uint32_t i = 0; i < stream->output_count; from += stream->outputs[i++].bytes)
    if (outputs[i]) memcpy(outputs[i], from, (size_t)stream->outputs[i].bytes);
}

heed_status heed_stream_collect(heed_stream *stream, void *const *outputs, heed_error *error) {
  if (stream->submitted == stream->collected)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "stream: no run to collect");
  if (stream->output_count && !outputs)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "stream: NULL argument (expected outputs)");
  heed_backend *backend = stream->session->plan->backend;
  HEED_TRY(heed_backend_lock(backend, "stream", error)); /* the run can be collected later */
  const uint32_t index = stream->collected % stream->size;
  stream_slot *slot = &stream->slots[index];
  heed_status status = slot->status;
  if (status != HEED_OK && error) *error = slot->error;
  if (status == HEED_OK && stream->ring)
    status = backend_of(stream)->ring_collect(stream->ring, index, outputs, error);
  else if (status == HEED_OK)
    copy_out(stream, slot, outputs);
  heed_backend_unlock(backend);
  HEED_ASSERT(stream->session->in_flight > 0);
  stream->collected++;
  stream->session->in_flight--;
  return status;
}
