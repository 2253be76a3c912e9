/* Shared blocks: a list behind a lock that is never held for long. */
#include "base/share.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/system.h"

struct heed_shared {
  heed_shared *next;
  void *block;
  uint64_t owners;
  uint32_t words;
  uint64_t key[];
};

static void lock(heed_context *context) {
  while (atomic_flag_test_and_set_explicit(&context->share_lock, memory_order_acquire))
    heed_system_yield();
}

static void unlock(heed_context *context) {
  atomic_flag_clear_explicit(&context->share_lock, memory_order_release);
}

uint64_t heed_share_serial(heed_context *context) {
  lock(context);
  const uint64_t serial = ++context->share_serial;
  unlock(context);
  return serial;
}

/* With one owner more; the lock is held. */
static heed_shared *own(heed_context *context, const uint64_t *key, uint32_t words) {
  heed_shared *shared = context->shared;
  while (shared && (shared->words != words || memcmp(shared->key, key, words * sizeof *key) != 0))
    shared = shared->next;
  if (shared) shared->owners++;
  return shared;
}

heed_shared *heed_share_find(heed_context *context, const uint64_t *key, uint32_t words) {
  lock(context);
  heed_shared *shared = own(context, key, words);
  unlock(context);
  return shared;
}

heed_status heed_share_add(heed_context *context, const uint64_t *key, uint32_t words, void *block,
                           heed_shared **shared, heed_error *error) {
  const size_t size = sizeof(heed_shared) + words * sizeof *key;
  heed_shared *made = heed_alloc(context, 1, size);
  *shared = NULL;
  if (!made) {
    heed_free(context, block);
    return heed_fail_memory(error, "shared block", size);
  }
  made->block = block;
  made->owners = 1;
  made->words = words;
  memcpy(made->key, key, words * sizeof *key);
  lock(context);
  heed_shared *earlier = own(context, key, words);
  if (!earlier) {
    made->next = context->shared;
    context->shared = made;
  }
  unlock(context);
  *shared = earlier ? earlier : made;
  if (earlier) {
    heed_free(context, block);
    heed_free(context, made);
  }
  return HEED_OK;
}

void *heed_share_block(const heed_shared *shared) { return shared->block; }

void heed_share_drop(heed_context *context, heed_shared *shared) {
  if (!shared) return;
  lock(context);
  const bool last = --shared->owners == 0;
  if (last) {
    heed_shared **at = &context->shared;
    while (*at != shared) at = &(*at)->next;
    *at = shared->next;
  }
  unlock(context);
  if (!last) return;
  heed_free(context, shared->block);
  heed_free(context, shared);
}

heed_status heed_share_hold(heed_context *context, heed_shared ***held, size_t *count,
                            heed_error *error) {
  size_t room = 0;
  *held = NULL;
  *count = 0;
  lock(context);
  for (const heed_shared *each = context->shared; each; each = each->next) room++;
  unlock(context);
  if (room == 0) return HEED_OK;
  *held = heed_alloc(context, room, sizeof **held);
  if (!*held) return heed_fail_memory(error, "shared blocks", room * sizeof **held);
  lock(context);
  for (heed_shared *each = context->shared; each && *count < room; each = each->next) {
    each->owners++;
    (*held)[(*count)++] = each;
  }
  unlock(context);
  return HEED_OK;
}

void heed_share_let_go(heed_context *context, heed_shared **held, size_t count) {
  for (size_t i = 0; i < count; i++) heed_share_drop(context, held[i]);
  heed_free(context, held);
}
