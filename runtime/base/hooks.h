/* The caller's hooks: progress and cancelling, both of which may be absent. */
#ifndef HEED_BASE_HOOKS_H
#define HEED_BASE_HOOKS_H

#include "heed/base.h"

/* Tells progress when there is a hook. */
void heed_report_progress(const heed_hooks *hooks, const char *phase, uint64_t done,
                          uint64_t total);
/* HEED_CANCELLED with a sentence when the caller wants to stop. */
heed_status heed_check_cancel(const heed_hooks *hooks, const char *where, heed_error *error);

#endif
