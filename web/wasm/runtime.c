/* The runtime object: a context whose blocks are counted, the CPU backend, blocks for JavaScript,
 * the last error and the numbers of the last call. See shim.h. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/status.h"
#include "shim.h"

/* Before each block, so that it can be counted back: malloc_usable_size changes while a block
 * lives. */
typedef struct block_head {
  void *start;
  size_t size;
} block_head;

static void *counted_alloc(size_t size, size_t alignment, void *user) {
  heed_web *web = user;
  /* before the block; keeps it aligned */
  const size_t room = alignment < sizeof(block_head) ? sizeof(block_head) : alignment;
  /* aligned_alloc wants a multiple */
  const size_t padding = (alignment - size % alignment) % alignment;
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

/* libc's word to JavaScript, which needs none. */
void emscripten_notify_memory_growth(size_t memory);
void emscripten_notify_memory_growth(size_t memory) { (void)memory; }

heed_web *heed_web_create(uint32_t threads) {
  heed_web *web = calloc(1, sizeof *web);
  if (!web) return NULL;
  const heed_context_desc context = {
      sizeof context, {counted_alloc, counted_free, web}, NULL, NULL};
  const heed_cpu_desc cpu = {sizeof cpu, threads, NULL};
  /* heed_web_status says what failed */
  if (heed_context_create(&context, &web->context, &web->error) != HEED_OK) web->context = NULL;
  if (web->context &&
      heed_cpu_backend_create(web->context, &cpu, &web->backend, &web->error) != HEED_OK)
    web->backend = NULL;
  return web;
}

void heed_web_destroy(heed_web *web) {
  heed_backend_destroy(web->backend);
  heed_context_destroy(web->context);
  free(web);
}

const char *heed_web_version(void) { return heed_version(); }
const char *heed_web_device(const heed_web *web) { return heed_backend_device(web->backend); }
heed_status heed_web_status(const heed_web *web) { return web->error.status; }
const char *heed_web_message(const heed_web *web) { return web->error.message; }
const char *heed_web_status_name(heed_status status) { return heed_status_name(status); }
const heed_web_out *heed_web_result(const heed_web *web) { return &web->out; }

/* "block address count;...": after a record's rank come its dimensions. */
const char *heed_web_records(void) {
#define FIELD(name) " " #name
#define SHAPE " rank"
#define RECORD(name, fields) #name fields ";"
  return
#include "record_list.h"
      ;
#undef RECORD
#undef SHAPE
#undef FIELD
}
size_t heed_web_used(const heed_web *web) { return web->used; }

void *heed_web_alloc(heed_web *web, size_t bytes) {
  void *block = heed_alloc_raw(web->context, bytes ? bytes : 1, 1);
  if (!block) heed_fail_memory(&web->error, "input", bytes);
  return block;
}

void heed_web_free(const heed_web *web, void *block) { heed_free(web->context, block); }
