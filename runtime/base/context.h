/* The context: allocator and log hooks. */
#ifndef HEED_BASE_CONTEXT_H
#define HEED_BASE_CONTEXT_H

#include "heed/base.h"

struct heed_context {
  heed_allocator allocator;
  heed_log_function log;
  void *log_user;
};

#endif
