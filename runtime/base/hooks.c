#include "base/hooks.h"

#include "base/status.h"

void heed_report_progress(const heed_hooks *hooks, const char *phase, uint64_t done,
                          uint64_t total) {
  if (hooks && hooks->progress) hooks->progress(phase, done, total, hooks->user);
}

heed_status heed_check_cancel(const heed_hooks *hooks, const char *where, heed_error *error) {
  if (!hooks || !hooks->cancel || !hooks->cancel(hooks->user)) return HEED_OK;
  return heed_fail(error, HEED_CANCELLED, "%s: cancelled by the caller", where);
}
