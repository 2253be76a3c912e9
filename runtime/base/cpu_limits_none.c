/* Systems that are not asked what limits a process's CPUs. */
#include "base/system.h"

uint32_t heed_system_allowed_cpus(void) { return 0; }

double heed_system_cpu_quota(const char *root) {
  (void)root;
  return 0;
}
