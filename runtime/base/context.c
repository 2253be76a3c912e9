/* The context: allocator, log hooks, and what is shared. */
#include "base/context.h"

#include "base/desc.h"
#include "base/status.h"
#include "base/system.h"

static void *default_alloc(size_t size, size_t alignment, void *user) {
  (void)user;
  return heed_system_alloc(size, alignment);
}

static void default_free(void *pointer, void *user) {
  (void)user;
  heed_system_free(pointer);
}

heed_status heed_context_create(const heed_context_desc *desc, heed_context **context,
                                heed_error *error) {
  if (!context)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "context: NULL argument (expected context)");
  *context = NULL;
  heed_context made = {.allocator = {default_alloc, default_free, NULL},
                       .share_lock = ATOMIC_FLAG_INIT};
  heed_context_desc full = HEED_CONTEXT_DESC_INIT;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "context", error));
  if (!full.allocator.alloc != !full.allocator.free)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "context: incomplete allocator (expected alloc and free)");
  if (full.allocator.alloc) made.allocator = full.allocator;
  made.log = full.log;
  made.log_user = full.log_user;
  made.most_reading = full.most_reading;
  heed_context *result = made.allocator.alloc(sizeof *result, 64, made.allocator.user);
  if (!result) return heed_fail_memory(error, "context", sizeof *result);
  *result = made;
  *context = result;
  return HEED_OK;
}

void heed_context_destroy(heed_context *context) {
  if (context) context->allocator.free(context, context->allocator.user);
}
