/* The context: allocator, log hooks, and what is shared. */
#ifndef HEED_BASE_CONTEXT_H
#define HEED_BASE_CONTEXT_H

#include <stdatomic.h>

#include "heed/base.h"

typedef struct heed_shared heed_shared; /* base/share.h */
typedef struct heed_budget heed_budget; /* base/budget.h */

struct heed_context {
  heed_allocator allocator;
  heed_log_function log;
  void *log_user;
  heed_budget *budget; /* what heed_alloc spends from; NULL: nothing is counted */
  uint64_t most_reading;
  /* base/share.c */
  atomic_flag share_lock;
  heed_shared *shared;
  uint64_t share_serial;
};

#endif
