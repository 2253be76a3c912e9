/* The context: allocator, log hooks, and what is shared. */
#ifndef HEED_BASE_CONTEXT_H
#define HEED_BASE_CONTEXT_H

#include <stdatomic.h>

#include "heed/base.h"

typedef struct heed_shared heed_shared; /* base/share.h */

struct heed_context {
  heed_allocator allocator;
  heed_log_function log;
  void *log_user;
  /* base/share.c */
  atomic_flag share_lock;
  heed_shared *shared;
  uint64_t share_serial;
};

#endif
