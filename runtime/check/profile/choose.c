/* Which cases a profile has: levels of its factors, drawn so that every pair of levels that can
 * stand together does in some case. Greedy: of some random cases the one with most new pairs. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "check/profile/profile.h"
#include "check/profile/random.h"

#define LEVELS 8
#define BITS (PROFILE_FACTORS * LEVELS)
#define MOST 120
#define SAMPLES 6000 /* random cases that say which pairs can be */
#define TRIES 40

typedef struct chooser {
  const heed_profile *profile;
  profile_random random;
  /* [factor, level] x [factor, level], the first factor below the second */
  bool can[BITS][BITS], done[BITS][BITS];
  uint32_t used[BITS]; /* cases that have a level */
} chooser;

static uint8_t draw_level(chooser *c, uint32_t factor) {
  uint32_t count = 0, wanted;
  for (uint32_t l = 0; l < LEVELS; l++) count += c->profile->levels[factor] >> l & 1u;
  wanted = profile_below(&c->random, count);
  for (uint32_t l = 0; l < LEVELS; l++)
    if ((c->profile->levels[factor] >> l & 1u) && wanted-- == 0) return (uint8_t)l;
  return 0;
}

/* A possible case, with two of its levels given (first NULL: none). */
static bool draw(chooser *c, const uint8_t *first, const uint8_t *second, uint8_t *level) {
  for (uint32_t tries = 0; tries < 4000; tries++) {
    for (uint32_t f = 0; f < PROFILE_FACTORS; f++) level[f] = draw_level(c, f);
    if (first) level[first[0]] = first[1];
    if (second) level[second[0]] = second[1];
    if (c->profile->is_possible(level)) return true;
  }
  return false;
}

/* How much a case adds: new pairs, and among equals levels that are rare so far. */
static uint64_t worth(const chooser *c, const uint8_t *level) {
  uint64_t pairs = 0, rare = 0;
  for (uint32_t a = 0; a < PROFILE_FACTORS; a++) {
    rare += 1000u / (1u + c->used[a * LEVELS + level[a]]);
    for (uint32_t b = a + 1; b < PROFILE_FACTORS; b++)
      pairs += !c->done[a * LEVELS + level[a]][b * LEVELS + level[b]];
  }
  return pairs * 100000u + rare;
}

static void mark(bool table[BITS][BITS], const uint8_t *level) {
  for (uint32_t a = 0; a < PROFILE_FACTORS; a++)
    for (uint32_t b = a + 1; b < PROFILE_FACTORS; b++)
      table[a * LEVELS + level[a]][b * LEVELS + level[b]] = true;
}

/* A pair that no case has yet; false: there is none. */
static bool find_missing(const chooser *c, uint8_t first[2], uint8_t second[2]) {
  for (uint32_t a = 0; a < BITS; a++)
    for (uint32_t b = a; b < BITS; b++)
      if (c->can[a][b] && !c->done[a][b]) {
        first[0] = (uint8_t)(a / LEVELS);
        first[1] = a % LEVELS;
        second[0] = (uint8_t)(b / LEVELS);
        second[1] = b % LEVELS;
        return true;
      }
  return false;
}

/* The next case into `best`: one with a missing pair, or when there is none with some level of some
 * factor, so that none stays rare. */
static void choose_one(chooser *c, uint8_t *best) {
  uint8_t first[2], second[2], level[PROFILE_FACTORS];
  const bool missing = find_missing(c, first, second);
  if (!missing) {
    first[0] = (uint8_t)profile_below(&c->random, PROFILE_FACTORS);
    first[1] = draw_level(c, first[0]);
  }
  uint64_t most = 0;
  for (uint32_t t = 0; t < TRIES; t++) {
    if (!draw(c, first, missing ? second : NULL, level)) break;
    const uint64_t adds = worth(c, level);
    if (t && adds <= most) continue;
    most = adds;
    memcpy(best, level, sizeof level);
  }
  mark(c->done, best);
  for (uint32_t f = 0; f < PROFILE_FACTORS; f++) c->used[f * LEVELS + best[f]]++;
}

static uint32_t count_pairs(const chooser *c) {
  uint32_t count = 0;
  for (uint32_t a = 0; a < BITS; a++)
    for (uint32_t b = a; b < BITS; b++) count += c->can[a][b];
  return count;
}

heed_status profile_choose(heed_context *context, const heed_profile *profile,
                           uint8_t (**cases)[PROFILE_FACTORS], uint32_t *count, uint32_t *pairs,
                           heed_error *error) {
  chooser *c = heed_alloc(context, 1, sizeof *c);
  *cases = c ? heed_alloc(context, MOST, sizeof **cases) : NULL;
  *count = 0;
  if (!*cases) {
    heed_free(context, c);
    return heed_fail_memory(error, "check: cases of a profile", sizeof *c);
  }
  c->profile = profile;
  c->random = profile_random_from(profile->name);
  uint8_t level[PROFILE_FACTORS], unused[2];
  for (uint32_t s = 0; s < SAMPLES; s++)
    if (draw(c, NULL, NULL, level)) mark(c->can, level);
  while (*count < MOST && (*count < profile->cases || find_missing(c, unused, unused)))
    choose_one(c, (*cases)[(*count)++]);
  *pairs = count_pairs(c);
  heed_status status = HEED_OK;
  if (find_missing(c, unused, unused))
    status = heed_fail(error, HEED_UNSUPPORTED,
                       "check: %s: more pairs of levels than %d cases have", profile->name, MOST);
  heed_free(context, c);
  return status;
}
