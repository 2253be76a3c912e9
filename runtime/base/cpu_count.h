/* How many CPUs this process may use, by what the system says (base/system.h). */
#ifndef HEED_BASE_CPU_COUNT_H
#define HEED_BASE_CPU_COUNT_H

#include <stdint.h>

typedef struct heed_cpu_count {
  uint32_t count;   /* that threads are worth starting for: 1 or more */
  uint32_t running; /* that may run threads of this process at one time: 1 or more */
  char why[80];     /* what allows fewer than the machine has, such as "CPU affinity allows 1 of 2
                       cores"; else "" */
} heed_cpu_count;

heed_cpu_count heed_cpu_count_find(void);

/* The parts, for tests. */

/* online: of the machine; allowed: by the affinity, cpusets included; quota: CPUs' worth of time,
 * 0 where there is none. A quota is rounded up: a thread more leaves no time unused. */
heed_cpu_count heed_cpu_count_of(uint32_t online, uint32_t allowed, double quota);
/* "150000 100000", as cpu.max has it: 1.5. 0 where it sets no limit or cannot be read. */
double heed_cpu_quota_read(const char *text);

#endif
