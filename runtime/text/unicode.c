/* See unicode.h. The tables are short; a look-up reads one from its start. */
#include "text/unicode.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "text/unicode_table.h"

static uint32_t next_number(const uint8_t **at) {
  uint32_t value = 0, shift = 0;
  while (**at & 0x80u) {
    value |= (*(*at)++ & 0x7Fu) << shift;
    shift += 7;
  }
  return value | (uint32_t) * (*at)++ << shift;
}

static int32_t next_difference(const uint8_t **at) {
  const uint32_t value = next_number(at);
  return value & 1 ? -(int32_t)(value / 2) - 1 : (int32_t)(value / 2);
}

static bool is_space(uint32_t p) {
  return (p >= 9 && p <= 13) || p == ' ' || p == 0x85 || p == 0xA0 || p == 0x1680 ||
         (p >= 0x2000 && p <= 0x200A) || p == 0x2028 || p == 0x2029 || p == 0x202F || p == 0x205F ||
         p == 0x3000;
}

heed_char_class heed_unicode_class(uint32_t point) {
  const uint8_t *at = classes_table, *end = at + sizeof classes_table;
  uint32_t run = 0;
  for (uint64_t first = 0; at < end && first <= point; first += run >> 2) run = next_number(&at);
  return is_space(point) ? HEED_CHAR_SPACE : (heed_char_class)(run & 3);
}

size_t heed_unicode_lower(uint32_t point, uint32_t to[2]) {
  const uint8_t *at = lower_table, *end = at + sizeof lower_table;
  to[0] = point;
  to[1] = 0x307;
  if (point == 0x130) to[0] = 'i';
  if (point == 0x130) return 2;
  for (uint32_t first = 0; at < end;) {
    first += next_number(&at);
    const uint32_t count = next_number(&at), step = next_number(&at);
    const int32_t difference = next_difference(&at);
    if (point < first) break;
    if ((point - first) % step == 0 && (point - first) / step < count)
      to[0] = (uint32_t)((int32_t)point + difference);
  }
  return 1;
}

bool heed_points_add(const heed_context *context, heed_points *points, uint32_t point) {
  const size_t need = points->count + 1;
  if (need > points->capacity &&
      !heed_grow(context, &points->at, &points->capacity, need, sizeof *points->at))
    return false;
  points->at[points->count++] = point;
  return true;
}

bool heed_points_read(const heed_context *context, heed_points *points, const char *text,
                      size_t length) {
  for (size_t i = 0, size; i < length; i += size) {
    size = heed_utf8_length(text, i, length);
    if (!size || !heed_points_add(context, points, heed_utf8_point(text + i, size))) return false;
  }
  return true;
}

/* -------------------------------------------------------------------------------- decomposition */

#define HANGUL 0xAC00u
#define LEADS 0x1100u
#define VOWELS 0x1161u
#define TRAILS 0x11A7u
enum { HANGUL_COUNT = 11172, LEAD_COUNT = 19, VOWEL_COUNT = 21, TRAIL_COUNT = 28 };

static uint32_t combining_class(uint32_t point) {
  const uint8_t *at = combining_table, *end = at + sizeof combining_table;
  for (uint32_t first = 0; at < end;) {
    first += next_number(&at);
    const uint32_t count = next_number(&at), kind = next_number(&at);
    if (point < first) return 0;
    if (point < first + count) return kind;
    first += count;
  }
  return 0;
}

typedef struct entry {
  uint32_t whole, first, second;
  bool apart; /* never composed */
} entry;

static bool next_entry(const uint8_t **at, entry *e) {
  if (*at == canonical_table + sizeof canonical_table) return false;
  const uint32_t gap = next_number(at);
  e->whole += gap >> 1;
  e->apart = gap & 1;
  e->first = (uint32_t)((int32_t)e->first + next_difference(at));
  e->second = (uint32_t)((int32_t)e->second + next_difference(at));
  return true;
}

static bool find_parts(uint32_t point, uint32_t *first, uint32_t *second) {
  const uint8_t *at = canonical_table;
  entry e = {0};
  while (next_entry(&at, &e) && e.whole <= point)
    if (e.whole == point) {
      *first = e.first;
      *second = e.second;
      return true;
    }
  return false;
}

/* A point and its combining class. */
static bool add_classed(const heed_context *context, heed_points *to, uint32_t point) {
  return heed_points_add(context, to, point | combining_class(point) << 24);
}

static bool add_hangul(const heed_context *context, heed_points *to, uint32_t syllable) {
  const uint32_t trail = syllable % TRAIL_COUNT, pair = syllable / TRAIL_COUNT;
  return heed_points_add(context, to, LEADS + pair / VOWEL_COUNT) &&
         heed_points_add(context, to, VOWELS + pair % VOWEL_COUNT) &&
         (!trail || heed_points_add(context, to, TRAILS + trail));
}

static bool decompose(const heed_context *context, uint32_t point, heed_points *to) {
  uint32_t seconds[8], count = 0, second = 0;
  if (point - HANGUL < HANGUL_COUNT) return add_hangul(context, to, point - HANGUL);
  while (point >= 0xC0 && count < 8 && find_parts(point, &point, &second))
    if (second) seconds[count++] = second;
  bool added = add_classed(context, to, point);
  while (added && count) added = add_classed(context, to, seconds[--count]);
  return added;
}

/* Marks after a letter by their class, those of one class in their order. */
static void order_marks(heed_points *points) {
  for (size_t i = 1; i < points->count; i++) {
    const uint32_t point = points->at[i], kind = point >> 24;
    size_t to = i;
    for (; kind && to && points->at[to - 1] >> 24 > kind; to--) points->at[to] = points->at[to - 1];
    points->at[to] = point;
  }
}

/* ---------------------------------------------------------------------------------- composition */

/* 0: the two are not one point. */
static uint32_t join(uint32_t first, uint32_t second) {
  const uint8_t *at = canonical_table;
  entry e = {0};
  if (first - LEADS < LEAD_COUNT && second - VOWELS < VOWEL_COUNT)
    return HANGUL + ((first - LEADS) * VOWEL_COUNT + second - VOWELS) * TRAIL_COUNT;
  if (first - HANGUL < HANGUL_COUNT && (first - HANGUL) % TRAIL_COUNT == 0 && second > TRAILS &&
      second < TRAILS + TRAIL_COUNT)
    return first + second - TRAILS;
  if (second < 0x300) return 0;
  while (next_entry(&at, &e))
    if (e.first == first && e.second == second && !e.apart) return e.whole;
  return 0;
}

/* Joins each mark with the last letter, unless a mark between them is in its way. */
static void compose(heed_points *points) {
  const uint32_t mask = 0xFFFFFFu;
  size_t letter = 0, end = 0;
  bool any = false;
  for (size_t i = 0; i < points->count; i++) {
    const uint32_t point = points->at[i], kind = point >> 24,
                   last = end ? points->at[end - 1] >> 24 : 0;
    const bool free = any && (end - 1 == letter || (last && last < kind));
    const uint32_t joined = free ? join(points->at[letter] & mask, point & mask) : 0;
    if (joined) {
      points->at[letter] = joined;
      continue;
    }
    if (!kind) letter = end;
    any = any || !kind;
    points->at[end++] = point;
  }
  points->count = end;
  for (size_t i = 0; i < end; i++) points->at[i] &= mask;
}

bool heed_unicode_compose(const heed_context *context, const heed_points *from, heed_points *to) {
  bool plain = true; /* nothing below U+0300 changes or joins */
  for (size_t i = 0; i < from->count; i++) plain = plain && from->at[i] < 0x300;
  for (size_t i = 0; i < from->count; i++)
    if (!(plain ? heed_points_add(context, to, from->at[i]) : decompose(context, from->at[i], to)))
      return false;
  if (plain) return true;
  order_marks(to);
  compose(to);
  return true;
}
