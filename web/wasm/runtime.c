/* The runtime object: context, CPU backend, blocks of memory for JavaScript, checks and colour maps. See shim.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "shim.h"

/* Before each block, so that it can be counted back: malloc_usable_size changes while a block lives. */
typedef struct block_head {
  void *start;
  size_t size;
} block_head;

static void *counted_alloc(size_t size, size_t alignment, void *user) {
  heed_web *web = user;
  const size_t room = alignment < sizeof(block_head) ? sizeof(block_head) : alignment; /* before the block; keeps it aligned */
  const size_t padding = (alignment - size % alignment) % alignment;                   /* aligned_alloc wants a multiple */
  if (size > SIZE_MAX - padding - room) return NULL;
  unsigned char *start = aligned_alloc(alignment, size + padding + room);
  if (!start) return NULL;
  block_head *head = (block_head *)(void *)(start + room) - 1;
  *head = (block_head){start, size};
  web->used += size;
  return start + room;
}

static void counted_free(void *block, void *user) {
  heed_web *web = user;
  const block_head *head = (const block_head *)block - 1;
  web->used -= head->size;
  free(head->start);
}

heed_web *heed_web_create(uint32_t threads) {
  heed_web *web = calloc(1, sizeof *web);
  if (!web) return NULL;
  const heed_context_desc context = {sizeof context, {counted_alloc, counted_free, web}, NULL, NULL};
  const heed_cpu_desc cpu = {sizeof cpu, threads, NULL};
  if (heed_context_create(&context, &web->context, &web->error) == HEED_OK) heed_cpu_backend_create(web->context, &cpu, &web->backend, &web->error);
  return web;
}

void heed_web_destroy(heed_web *web) {
  heed_backend_destroy(web->backend);
  heed_context_destroy(web->context);
  free(web);
}

heed_status heed_web_status(const heed_web *web) { return web->error.status; }
const char *heed_web_message(const heed_web *web) { return web->error.message; }
const char *heed_web_status_name(heed_status status) { return heed_status_name(status); }
const char *heed_web_version(void) { return heed_version(); }
const char *heed_web_device(const heed_web *web) { return heed_backend_device(web->backend); }
const double *heed_web_out(const heed_web *web) { return web->out; }
size_t heed_web_used(const heed_web *web) { return web->used; }

void *heed_web_alloc(heed_web *web, size_t bytes) {
  void *block = heed_alloc_raw(web->context, bytes ? bytes : 1, 1);
  if (!block) heed_fail_memory(&web->error, "input", bytes);
  return block;
}

void heed_web_free(const heed_web *web, void *block) { heed_free(web->context, block); }

static heed_status take(void *user, const char *name, heed_dtype dtype, const heed_shape *shape, const void *data, heed_error *error) {
  (void)user;
  (void)error;
  heed_host_take(name, dtype, shape->rank, shape->dim, data);
  return HEED_OK;
}

heed_status heed_web_check(heed_web *web, const void *bytes, size_t size, double tolerance, int results) {
  heed_check_result *result = &web->check;
  const heed_status status = heed_check_case(web->context, web->backend, bytes, size, tolerance, results ? take : NULL, NULL, result, &web->error);
  if (status != HEED_OK) return status;
  web->out[0] = result->passed;
  web->out[1] = result->max_abs;
  web->out[2] = result->max_rel;
  web->out[3] = (double)(uintptr_t)result->op;
  web->out[4] = (double)(uintptr_t)result->worst;
  web->out[5] = result->shape.rank;
  for (uint32_t i = 0; i < result->shape.rank; i++) web->out[6 + i] = result->shape.dim[i];
  return HEED_OK;
}

void heed_web_colormap(heed_colormap map, uint8_t *rgb) {
  for (int i = 0; i < 256; i++) heed_colormap_rgb(map, i / 255.0, rgb + 3 * i);
}
