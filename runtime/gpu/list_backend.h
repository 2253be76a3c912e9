/* A backend whose program is a list: buffers, bytes for them, dispatches. A host elsewhere (a
 * browser's WebGPU, a process behind pipes) executes it. */
#ifndef HEED_GPU_LIST_BACKEND_H
#define HEED_GPU_LIST_BACKEND_H

#include "gpu/buffers.h"
#include "heed/session.h"

/* What the host does. Programs and buffers are numbers; those of buffers are gpu/buffers.h's. A
 * program begins with its buffers, then come its dispatches in order, then its weights. Where a
 * function can fail its sentence goes to error. */
typedef struct heed_gpu_list_host {
  void *user;
  uint32_t (*begin)(void *user);
  void (*end)(void *user, uint32_t program);
  void (*buffer)(void *user, uint32_t program, uint32_t buffer, uint64_t bytes);
  void (*dispatch)(void *user, uint32_t program, const heed_gpu_words *words, const char *shader);
  void (*write)(void *user, uint32_t program, uint32_t buffer, uint64_t offset, const void *from,
                size_t bytes);
  /* Dispatches [first, end), after those asked for before. */
  heed_status (*run)(void *user, uint32_t program, uint32_t first, uint32_t end, heed_error *error);
  heed_status (*read)(void *user, uint32_t program, uint32_t buffer, uint64_t offset, void *to,
                      size_t bytes, heed_error *error);
} heed_gpu_list_host;

/* Borrows context, and what host->user is. limits->buffer: bytes of the largest buffer. The name is
 * "webgpu"; device: what heed_backend_device says. Statuses: OUT_OF_MEMORY. */
heed_status heed_gpu_list_backend_create(heed_context *context, const heed_gpu_limits *limits,
                                         const heed_gpu_list_host *host, const char *device,
                                         heed_backend **backend, heed_error *error);

#endif
