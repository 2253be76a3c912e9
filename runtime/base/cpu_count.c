/* The CPUs that a process may use: those of the machine, less what its affinity and the quotas of
 * its control groups leave out. */
#include "base/cpu_count.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/system.h"

heed_cpu_count heed_cpu_count_of(uint32_t online, uint32_t allowed, double quota) {
  heed_cpu_count found = {.count = online ? online : 1};
  if (allowed && allowed < found.count) {
    snprintf(found.why, sizeof found.why, "CPU affinity allows %u of %u cores", allowed, online);
    found.count = allowed;
  }
  found.running = found.count;
  if (!(quota > 0) || quota >= found.count) return found;
  const uint64_t hundredths = quota < 0.01 ? 1 : (uint64_t)(quota * 100);
  snprintf(found.why, sizeof found.why, "the CPU quota allows %u.%02u of %u cores",
           (unsigned)(hundredths / 100), (unsigned)(hundredths % 100), online);
  const uint32_t whole = (uint32_t)quota;
  found.count = whole < quota ? whole + 1 : whole;
  return found;
}

double heed_cpu_quota_read(const char *text) {
  char *rest;
  const long long quota = strtoll(text, &rest, 10); /* "max" and "-1" set no limit */
  const long long period = quota > 0 ? strtoll(rest, NULL, 10) : 0;
  return period > 0 ? (double)quota / (double)period : 0;
}

heed_cpu_count heed_cpu_count_find(void) {
  return heed_cpu_count_of(heed_system_cpus(), heed_system_allowed_cpus(),
                           heed_system_cpu_quota(""));
}
