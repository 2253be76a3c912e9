/* The names of the tiers. */
#include "gpu/tier.h"

#include <stddef.h>

const char *heed_gpu_tier_name(heed_gpu_tier tier) {
  static const char *const names[] = {"auto", "floor",       "subgroup",
                                      "half", "cooperative", "cooperative2"};
  return (unsigned)tier < sizeof names / sizeof *names ? names[tier] : NULL;
}
