/* The random numbers of profiles: SplitMix64 (Steele et al. 2014), the same everywhere. */
#ifndef HEED_CHECK_PROFILE_RANDOM_H
#define HEED_CHECK_PROFILE_RANDOM_H

#include <stdint.h>

typedef struct profile_random {
  uint64_t state;
} profile_random;

static inline uint64_t profile_next(profile_random *random) {
  uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static inline profile_random profile_random_from(const char *text) {
  profile_random random = {1};
  for (; *text; text++) random.state = profile_next(&random) + (uint8_t)*text;
  return random;
}

/* 0 to end - 1. */
static inline uint32_t profile_below(profile_random *random, uint32_t end) {
  return (uint32_t)((profile_next(random) >> 32) * end >> 32);
}

/* -1 to 1. */
static inline float profile_number(profile_random *random) {
  return (float)((int32_t)(profile_next(random) >> 40) - (1 << 23)) / (float)(1 << 23);
}

#endif
