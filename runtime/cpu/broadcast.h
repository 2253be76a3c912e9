/* What add and multiply share: y = a op b by numpy's rule, y of a's shape. */
#ifndef HEED_CPU_BROADCAST_H
#define HEED_CPU_BROADCAST_H

#include "cpu/gemm.h"

/* `count` elements in a row: with as many of b, or with one of b for all. */
typedef struct heed_cpu_broadcast {
  void (*run)(const float *a, const float *b, float *y, size_t count);
  void (*one)(const float *a, float b, float *y, size_t count);
} heed_cpu_broadcast;

/* desc of the step's node: heed_add_desc. */
void HEED_CPU_SYMBOL(heed_cpu_broadcast_step)(const heed_cpu_step *step,
                                              const heed_cpu_broadcast *op);

#endif
