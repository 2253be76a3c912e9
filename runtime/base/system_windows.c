/* What Windows has. Its C library has no aligned_alloc. */
#include <malloc.h>
#include <windows.h>

#include "base/system.h"

void *heed_system_alloc(size_t size, size_t alignment) { return _aligned_malloc(size, alignment); }

void heed_system_free(void *pointer) { _aligned_free(pointer); }

uint64_t heed_system_process(void) { return 0; }

uintptr_t heed_system_thread(void) {
  static _Thread_local char own;
  return (uintptr_t)&own;
}

void heed_system_yield(void) { SwitchToThread(); }

uint32_t heed_system_cpus(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwNumberOfProcessors;
}

/* 0 where the process runs on several groups of processors. */
uint32_t heed_system_allowed_cpus(void) {
  DWORD_PTR own, machine;
  uint32_t count = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &machine)) return 0;
  for (; own; own &= own - 1) count++;
  return count;
}

double heed_system_cpu_quota(const char *root) {
  (void)root;
  return 0;
}
