/* Which process this is. thread_pool.c has it. */
#ifndef HEED_BASE_PROCESS_H
#define HEED_BASE_PROCESS_H

#include <stdint.h>

/* A number for what a fork does not copy, such as threads; 0 where there is no fork. */
uint64_t heed_process_id(void);

#endif
