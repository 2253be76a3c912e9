/* See held.h. */
#include "explain/held.h"

#include <math.h>
#include <string.h>

#include "backend/session.h"
#include "base/alloc.h"
#include "base/hooks.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/row_kernels.h"
#include "graph/ops/attention.h"
#include "heed/ops.h"

/* ---------------------------------------------------------------------------------- packed rows */

/* A packed row: its step as a float, 16 bits of each number, and 4 more of two numbers a byte. */
static size_t packed_bytes(uint32_t width) {
  return sizeof(float) + 2 * (size_t)width + (width + 1) / 2;
}

/* The largest size of a number; NaN where one is no finite number. Sizes are compared as bits. */
static float largest_size(const float *row, uint32_t width) {
  int32_t most = 0;
  for (uint32_t i = 0; i < width; i++) {
    int32_t bits;
    memcpy(&bits, row + i, sizeof bits);
    bits &= INT32_MAX;
    most = bits > most ? bits : most;
  }
  float size;
  memcpy(&size, &most, sizeof size);
  return isfinite(size) ? size : NAN;
}

/* A row that is not finite has a step of NaN, and one of zeros a step of 0. */
static void pack_row(const float *row, uint32_t width, unsigned char *to) {
  const float most = largest_size(row, width), step = most / (float)(ROW_MIDDLE - 1);
  unsigned char *low = to + sizeof step, *high = low + 2 * (size_t)width;
  memcpy(to, &step, sizeof step);
  memset(low, 0, 2 * (size_t)width);
  memset(high, 0x88, (width + 1) / 2); /* ROW_MIDDLE twice */
  if (step > 0.0f && isfinite(1.0f / step)) heed_row_pack(row, width, 1.0f / step, low, high);
}

static void unpack_row(const unsigned char *from, uint32_t width, float *row) {
  const uint32_t half = (width + 1) / 2;
  const unsigned char *low = from + sizeof(float), *high = low + 2 * (size_t)width;
  float step;
  memcpy(&step, from, sizeof step);
  for (uint32_t first = 0; first < width; first += half)
    for (uint32_t i = 0; i < half && first + i < width; i++)
      row[first + i] =
          (float)row_number(low + 2 * (size_t)(first + i), (high[i] >> (first ? 4 : 0)) & 15u) *
          step;
}

/* --------------------------------------------------------------------------------- what is held */

static size_t row_bytes(const heed_held *held) {
  return held->form == HEED_HELD_PACKED ? packed_bytes(held->width) : held->width * sizeof(float);
}

static const heed_attention_desc *attention_of(const heed_pass *pass, heed_value weights) {
  return pass->graph->nodes[heed_graph_record(pass->graph, weights.id)->node].desc;
}

static heed_held *find(const heed_pass *pass, heed_value value, heed_value less) {
  for (size_t i = 0; i < pass->held_count; i++)
    if (pass->held[i].value.id == value.id && pass->held[i].less.id == less.id)
      return &pass->held[i];
  return NULL;
}

const heed_held *heed_held_find(const heed_pass *pass, heed_value value, heed_value less) {
  return find(pass, value, less);
}

void heed_held_drop(const heed_explain_run *run, heed_pass *pass, heed_value value,
                    heed_value less) {
  heed_held *held = find(pass, value, less);
  heed_free(run->context, held->data);
  held->data = NULL;
}

static const unsigned char *find_row(const heed_held *held, uint32_t b, uint32_t head, size_t row) {
  size_t at;
  for (at = held->rows ? 0 : row; held->rows && held->rows[at] != row;) at++;
  at += ((size_t)b * held->heads + head) * held->row_count;
  return held->data + at * row_bytes(held);
}

const float *heed_held_row(const heed_held *held, uint32_t b, uint32_t head, size_t row,
                           float *to) {
  const unsigned char *from = find_row(held, b, head, row);
  if (held->form != HEED_HELD_PACKED) return (const float *)(const void *)from;
  unpack_row(from, held->width, to);
  return to;
}

double heed_held_dot(const heed_held *held, uint32_t b, size_t row, const double *d) {
  const unsigned char *from = find_row(held, b, 0, row), *low = from + sizeof(float);
  float step;
  if (held->form != HEED_HELD_PACKED)
    return heed_row_dot(d, (const float *)(const void *)from, held->width);
  memcpy(&step, from, sizeof step);
  return (double)step * heed_row_dot_packed(d, low, low + 2 * (size_t)held->width, held->width);
}

/* rows of `held` += those of `wanted`; of most rows all are held. */
static heed_status add_rows(const heed_explain_run *run, heed_held *held, const heed_held *wanted,
                            size_t all, const char *what, heed_error *error) {
  const size_t most = held->row_count + wanted->row_count;
  size_t i = 0, k = 0, count = 0;
  uint32_t *rows = NULL;
  if (wanted->rows && most <= all / 2) {
    rows = heed_alloc_raw(run->context, most, sizeof *rows);
    if (!rows) return heed_fail_memory(error, what, most * sizeof *rows);
    while (i < held->row_count || k < wanted->row_count) {
      const uint32_t left = i < held->row_count ? held->rows[i] : UINT32_MAX,
                     right = k < wanted->row_count ? wanted->rows[k] : UINT32_MAX;
      rows[count++] = left < right ? left : right;
      i += left <= right;
      k += right <= left;
    }
  }
  heed_free(run->context, held->rows);
  held->rows = rows;
  held->row_count = rows ? count : all;
  return HEED_OK;
}

heed_status heed_hold(const heed_explain_run *run, heed_pass *pass, const heed_held *wanted,
                      const char *what, heed_error *error) {
  if (!wanted->value.id)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: the model lacks a value that the method reads",
                     what);
  const heed_shape *shape = &heed_graph_record(pass->graph, wanted->value.id)->shape;
  heed_held *held = find(pass, wanted->value, wanted->less);
  if (!held) {
    if (!heed_grow(run->context, &pass->held, &pass->held_room, pass->held_count + 1,
                   sizeof *pass->held))
      return heed_fail_memory(error, what, sizeof *pass->held);
    held = &pass->held[pass->held_count++];
    *held = *wanted;
    held->rows = NULL;
    held->row_count = 0;
    held->width = shape->dim[shape->rank - 1];
    held->heads = held->form == HEED_HELD_WEIGHTS ? shape->dim[1] : 1;
  } else if (!held->rows) {
    return HEED_OK;
  }
  const size_t all = (size_t)(heed_shape_count(shape) / pass->batch / held->width / held->heads);
  return add_rows(run, held, wanted, all, what, error);
}

/* The values that are read for it. */
static uint32_t sources_of(const heed_pass *pass, const heed_held *held, heed_value sources[3]) {
  uint32_t count = 0;
  if (held->form != HEED_HELD_WEIGHTS) {
    sources[count++] = held->value;
    if (held->less.id) sources[count++] = held->less;
    return count;
  }
  const heed_attention_desc *attention = attention_of(pass, held->value);
  sources[count++] = attention->query;
  sources[count++] = attention->key;
  if (attention->bias.id &&
      heed_graph_record(pass->graph, attention->bias.id)->kind != HEED_VALUE_CONSTANT)
    sources[count++] = attention->bias;
  return count;
}

heed_status heed_held_keep(const heed_explain_run *run, heed_pass *pass, heed_error *error) {
  if (heed_backend_can_stand(run->desc->backend)) return HEED_OK;
  for (size_t i = 0; i < pass->held_count; i++) {
    heed_value sources[3];
    const uint32_t count = sources_of(pass, &pass->held[i], sources);
    for (uint32_t k = 0; k < count; k++)
      HEED_TRY(heed_pass_keep(run, pass, sources[k], "explain", error));
  }
  return HEED_OK;
}

/* ---------------------------------------------------------------------------------------- taking
 */

static heed_status take_weights(const heed_pass *pass, const heed_held *held, heed_error *error) {
  float *to = (float *)(void *)held->data;
  for (uint32_t b = 0; b < pass->batch; b++)
    for (uint32_t h = 0; h < held->heads; h++, to += held->row_count * held->width) {
      const heed_attention_map_desc desc = {.struct_size = sizeof desc,
                                            .batch = b,
                                            .head = h,
                                            .rows = held->rows,
                                            .row_count = (uint32_t)held->row_count};
      HEED_TRY(heed_session_attention_map(pass->session, held->value, &desc, to, error));
    }
  return HEED_OK;
}

/* The value of all pictures: in the arena, or a copy that is the caller's to free. */
static heed_status see(const heed_explain_run *run, const heed_pass *pass, heed_value value,
                       const float **numbers, float **copy, heed_error *error) {
  const void *seen;
  *copy = NULL;
  const heed_status status = heed_session_view(pass->session, value, &seen, error);
  *numbers = seen;
  if (status != HEED_UNSUPPORTED) return status;
  const uint64_t count = heed_shape_count(&heed_graph_record(pass->graph, value.id)->shape);
  *numbers = *copy = heed_alloc_raw(run->context, (size_t)count, sizeof **copy);
  return *copy ? heed_session_read(pass->session, value, 0, count, *copy, error)
               : heed_fail_memory(error, "explain", (size_t)count * sizeof **copy);
}

/* row [width] has room for a difference. */
static void take_rows(const heed_pass *pass, const heed_held *held, const float *value,
                      const float *less, float *row) {
  const heed_shape *shape = &heed_graph_record(pass->graph, held->value.id)->shape;
  const size_t picture = (size_t)(heed_shape_count(shape) / pass->batch), bytes = row_bytes(held);
  unsigned char *to = held->data;
  for (uint32_t b = 0; b < pass->batch; b++)
    for (size_t i = 0; i < held->row_count; i++, to += bytes) {
      const size_t at = b * picture + (held->rows ? held->rows[i] : i) * held->width;
      const float *from = value + at;
      for (uint32_t k = 0; less && k < held->width; k++) row[k] = from[k] - less[at + k];
      if (less) from = row;
      if (held->form == HEED_HELD_PACKED)
        pack_row(from, held->width, to);
      else
        memcpy(to, from, bytes);
    }
}

static heed_status take(const heed_explain_run *run, const heed_pass *pass, heed_held *held,
                        heed_error *error) {
  const size_t bytes = pass->batch * held->heads * held->row_count * row_bytes(held);
  if (!held->data) held->data = heed_alloc_raw(run->context, bytes, 1); /* else from the last run */
  if (!held->data) return heed_fail_memory(error, "explain", bytes);
  if (held->form == HEED_HELD_WEIGHTS) return take_weights(pass, held, error);
  const float *value, *less = NULL;
  float *copies[2] = {NULL, NULL}, *row = heed_alloc_raw(run->context, held->width, sizeof *row);
  heed_status status = row ? see(run, pass, held->value, &value, &copies[0], error)
                           : heed_fail_memory(error, "explain", held->width * sizeof *row);
  if (status == HEED_OK && held->less.id)
    status = see(run, pass, held->less, &less, &copies[1], error);
  if (status == HEED_OK) take_rows(pass, held, value, less, row);
  heed_free(run->context, copies[0]);
  heed_free(run->context, copies[1]);
  heed_free(run->context, row);
  return status;
}

static heed_status take_after(const heed_explain_run *run, heed_pass *pass, uint32_t step,
                              heed_error *error) {
  for (size_t i = 0; i < pass->held_count; i++)
    if (pass->held[i].step == step) HEED_TRY(take(run, pass, &pass->held[i], error));
  return HEED_OK;
}

/* The first step after `step`, at most the last of all, after which something is taken. */
static uint32_t next_stop(const heed_pass *pass, uint32_t step, uint32_t last) {
  for (size_t i = 0; i < pass->held_count; i++)
    if (pass->held[i].step >= step && pass->held[i].step < last) last = pass->held[i].step;
  return last;
}

/* Each is taken as soon as all that it is made of is there. */
static void find_steps(heed_pass *pass) {
  for (size_t i = 0; i < pass->held_count; i++) {
    heed_value sources[3];
    const uint32_t count = sources_of(pass, &pass->held[i], sources);
    pass->held[i].step = 0;
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t step = heed_session_first_step(pass->session, sources[k]);
      if (step > pass->held[i].step) pass->held[i].step = step;
    }
  }
}

static heed_status run_standing(const heed_explain_run *run, heed_pass *pass, heed_error *error) {
  const uint32_t steps = heed_plan_step_count(pass->plan);
  const heed_hooks *hooks = run->desc->hooks;
  heed_plan_step info;
  uint32_t stage = 0;
  find_steps(pass);
  for (uint32_t step = 0; step < steps;) {
    heed_plan_step_info(pass->plan, step, &info);
    if (step && info.stage != stage)
      heed_report_progress(hooks, "run", info.stage, pass->graph->stage_count);
    stage = info.stage;
    HEED_TRY(heed_check_cancel(hooks, "run", error));
    const uint32_t stop = next_stop(pass, step, steps - 1);
    HEED_TRY(heed_session_run_to(pass->session, &step, stop + 1, error));
    if (step == stop + 1) HEED_TRY(take_after(run, pass, stop, error));
  }
  heed_report_progress(hooks, "run", pass->graph->stage_count, pass->graph->stage_count);
  return HEED_OK;
}

heed_status heed_held_run(const heed_explain_run *run, heed_pass *pass, heed_error *error) {
  if (!pass->held_count) return heed_session_run(pass->session, run->desc->hooks, error);
  if (heed_backend_can_stand(run->desc->backend)) return run_standing(run, pass, error);
  HEED_TRY(heed_session_run(pass->session, run->desc->hooks, error));
  for (size_t i = 0; i < pass->held_count; i++) HEED_TRY(take(run, pass, &pass->held[i], error));
  return HEED_OK;
}

void heed_held_close(const heed_explain_run *run, heed_pass *pass) {
  for (size_t i = 0; i < pass->held_count; i++) {
    heed_free(run->context, pass->held[i].rows);
    heed_free(run->context, pass->held[i].data);
  }
  heed_free(run->context, pass->held);
}
