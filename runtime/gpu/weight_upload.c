/* Constants are read in runs of rows and packed (gpu/weight_packing.h) in a bounded piece of host
 * memory, so that a model never lies twice in memory. */
#include "gpu/weight_upload.h"

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "base/tensor.h"
#include "gpu/weight_packing.h"
#include "graph/quantised.h"

typedef struct upload_job {
  const heed_gpu_builder *builder;
  const heed_hooks *hooks;
  heed_gpu_put *put;
  void *user;
  unsigned char *source, *packed; /* halves of the working memory */
  uint64_t half, done, total;
} upload_job;

static uint64_t panel_bytes(const heed_gpu_weight *weight) {
  if (weight->int8) return heed_gpu_int8_panel_bytes(weight->panel, weight->depth);
  return heed_gpu_panel_count(weight->panel, weight->depth, weight->eights) *
         (weight->half ? sizeof(uint16_t) : sizeof(float));
}

static uint64_t graph_bytes(const heed_gpu_builder *builder, const heed_gpu_weight *weight) {
  return weight->value ? heed_plan_bytes(builder->plan, weight->value) : 0;
}

static heed_status put_bytes(upload_job *job, const heed_gpu_weight *weight, uint64_t at,
                             const void *from, uint64_t bytes, heed_error *error) {
  HEED_ASSERT(weight->range.block < job->builder->block_count &&
              weight->range.offset + at + bytes <= job->builder->blocks[weight->range.block]);
  return job->put(job->user, weight->range.block, weight->range.offset + at, from, (size_t)bytes,
                  error);
}

static void report(upload_job *job, uint64_t bytes) {
  job->done += bytes;
  heed_report_progress(job->hooks, "read", job->done, job->total);
}

static heed_status upload_dense(upload_job *job, const heed_gpu_weight *weight, heed_error *error) {
  const heed_graph *graph = job->builder->plan->graph;
  const uint64_t size = heed_dtype_size(heed_graph_record(graph, weight->value)->dtype),
                 bytes = graph_bytes(job->builder, weight);
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t piece = bytes - at < job->half ? bytes - at : job->half / size * size;
    HEED_TRY(heed_graph_read_constant(graph, weight->value, at / size, piece / size, job->source,
                                      error));
    HEED_TRY(put_bytes(job, weight, at, job->source, piece, error));
    at += piece;
    report(job, piece);
  }
  return HEED_OK;
}

/* One panel of a weight, from its rows on, to job->packed. */
static heed_status pack_panel(const upload_job *job, const heed_gpu_weight *weight, uint32_t row,
                              uint32_t rows, heed_error *error) {
  const heed_graph *graph = job->builder->plan->graph;
  const uint64_t first = ((uint64_t)weight->first_row + row) * weight->depth,
                 count = (uint64_t)rows * weight->depth;
  if (!weight->int8) {
    HEED_TRY(heed_graph_read_constant(graph, weight->value, first, count, job->source, error));
    return heed_gpu_pack_panel(job->builder, weight, rows, (const float *)(const void *)job->source,
                               (float *)(void *)job->packed, error);
  }
  int8_t *numbers = (int8_t *)job->source;
  HEED_TRY(heed_quantised_read(heed_graph_quantised(graph, weight->value), first, count, numbers,
                               error));
  heed_gpu_pack_int8_panel(weight, rows, numbers, job->packed);
  return HEED_OK;
}

static heed_status upload_panels(upload_job *job, const heed_gpu_weight *weight,
                                 heed_error *error) {
  for (uint32_t row = 0; row < weight->rows; row += weight->panel) {
    const uint32_t rows = weight->rows - row < weight->panel ? weight->rows - row : weight->panel;
    HEED_TRY(pack_panel(job, weight, row, rows, error));
    HEED_TRY(put_bytes(job, weight, row / weight->panel * panel_bytes(weight), job->packed,
                       panel_bytes(weight), error));
    report(job, (uint64_t)rows * weight->depth * sizeof(float));
  }
  return HEED_OK;
}

static heed_status upload_all(upload_job *job, heed_error *error) {
  for (size_t i = 0; i < job->builder->weight_count; i++) {
    const heed_gpu_weight *weight = &job->builder->weights[i];
    HEED_TRY(heed_check_cancel(job->hooks, "read", error));
    if (weight->data)
      HEED_TRY(put_bytes(job, weight, 0, weight->data, weight->range.bytes, error));
    else if (weight->panel)
      HEED_TRY(upload_panels(job, weight, error));
    else
      HEED_TRY(upload_dense(job, weight, error));
  }
  return HEED_OK;
}

heed_status heed_gpu_upload(const heed_gpu_builder *builder, const heed_hooks *hooks,
                            heed_gpu_put *put, void *user, heed_error *error) {
  upload_job job = {.builder = builder,
                    .hooks = hooks,
                    .put = put,
                    .user = user,
                    .half = heed_gpu_pack_bytes(builder) / 2};
  for (size_t i = 0; i < builder->weight_count; i++)
    job.total += graph_bytes(builder, &builder->weights[i]);
  if (builder->weight_count == 0) return HEED_OK;
  job.source = heed_alloc_raw(builder->context, (size_t)job.half, 2);
  if (!job.source)
    return heed_fail(error, HEED_OUT_OF_MEMORY,
                     "%s: packing weights: out of memory (requested %llu bytes)",
                     builder->plan->backend->vtable->name, (unsigned long long)job.half * 2);
  job.packed = job.source + job.half;
  const heed_status status = upload_all(&job, error);
  heed_free(builder->context, job.source);
  return status;
}
