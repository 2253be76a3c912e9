/* Blocks that several owners read, such as the packed weights of a model's sessions. They are found
 * by keys, counted, and freed with their last owner. Any thread may call any of these. */
#ifndef HEED_BASE_SHARE_H
#define HEED_BASE_SHARE_H

#include "base/context.h"

/* A number for what keys speak of, such as a graph, that nothing else of the context ever has. */
uint64_t heed_share_serial(heed_context *context);

/* The block of this key, with one owner more; NULL: there is none. */
heed_shared *heed_share_find(heed_context *context, const uint64_t *key, uint32_t words);
/* Makes `block`, from heed_alloc_raw or NULL, the one of this key, with one owner. Where another
 * thread was earlier, it is freed, and that thread's has one owner more. It is freed where this
 * fails, too. Statuses: OUT_OF_MEMORY. */
heed_status heed_share_add(heed_context *context, const uint64_t *key, uint32_t words, void *block,
                           heed_shared **shared, heed_error *error);
/* Nobody writes to it any more. */
void *heed_share_block(const heed_shared *shared);
/* One owner less; NULL: nothing. */
void heed_share_drop(heed_context *context, heed_shared *shared);

/* One owner more of each block that there is, until heed_share_let_go, whose memory `held` is: who
 * comes next finds what the last owner left. Statuses: OUT_OF_MEMORY. */
heed_status heed_share_hold(heed_context *context, heed_shared ***held, size_t *count,
                            heed_error *error);
void heed_share_let_go(heed_context *context, heed_shared **held, size_t count);

#endif
