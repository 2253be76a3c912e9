/* A GPU backend whose host is another process: Node with Dawn, behind two pipes. C plans and packs,
 * and the host executes WGSL. */
#ifndef HEED_TESTS_GPU_PIPE_BACKEND_H
#define HEED_TESTS_GPU_PIPE_BACKEND_H

#include <stdbool.h>

#include "gpu/limits.h"
#include "heed/session.h"

/* What the host was asked for beside the floor. */
typedef struct pipe_options {
  bool half;       /* weights and values between products in fp16 */
  bool dot;        /* products of int8 by dot products */
  bool subgroups;  /* row sums by subgroups */
  bool unrolled;   /* loops over constants are written out */
  uint64_t buffer; /* bytes of the largest buffer; 0: those that every device has */
} pipe_options;

/* Starts the host, which lives until pipe_backend_stop. false: it cannot run here, and `why` is a
 * sentence. */
bool pipe_backend_start(char *why, size_t size);
void pipe_backend_stop(void);
/* Of the host's device. */
bool pipe_backend_has_subgroups(void);
/* The backend borrows context. heed_backend_destroy frees it. */
heed_status pipe_backend_create(heed_context *context, const pipe_options *options,
                                heed_backend **backend, heed_error *error);
/* Dispatches that the host has run. */
unsigned long pipe_backend_dispatches(void);

#endif
