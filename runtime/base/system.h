/* What is asked of the operating system, with a file for each: system_posix.c, system_windows.c,
 * system_wasm.c, and what limits a process's CPUs. CMake chooses. */
#ifndef HEED_BASE_SYSTEM_H
#define HEED_BASE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* `size` bytes at a multiple of `alignment`, a power of two; NULL: out of memory. */
void *heed_system_alloc(size_t size, size_t alignment);
void heed_system_free(void *pointer);

/* A number for each process that is not 0, to know what a fork does not copy, such as threads; 0
 * where there is no fork. */
uint64_t heed_system_process(void);
/* A number for each thread that runs now, not 0; the same for all where they cannot share. No
 * system call. */
uintptr_t heed_system_thread(void);
/* Lets another thread run, which holds what this one waits for. */
void heed_system_yield(void);

/* CPUs of the machine: 1 or more. */
uint32_t heed_system_cpus(void);
/* CPUs that the process's affinity has, cpusets included; 0 where it is not known. */
uint32_t heed_system_allowed_cpus(void);
/* CPUs' worth of time, the least quota of the process's control groups, version 1 or 2, and of
 * those above them; 0: none. root: "", or a folder that stands for / (tests). */
double heed_system_cpu_quota(const char *root);

#endif
