/* Colour scales. See scale.h. */
#include "figure/scale.h"

#include <math.h>
#include <string.h>

#include "explain/colour_rule.h"

/* ----------------------------------------------------------------------------------------- ends */

heed_scale heed_scale_of(heed_scale_kind kind, uint32_t tokens, double largest, double locked) {
  if (kind == HEED_SCALE_OWN) locked = 0.0;
  const double end = heed_scale_end(tokens, largest, locked);
  return (heed_scale){.kind = kind == HEED_SCALE_AUTO ? HEED_SCALE_UNIFORM : kind,
                      .tokens = tokens,
                      .end = end,
                      .beyond = locked > 0.0 && largest > end};
}

heed_scale heed_scale_of_maps(heed_scale_kind kind, uint32_t tokens, const double *largest,
                              size_t count, size_t group, double locked) {
  double most = 0.0, votes = 0.0;
  bool faint = false;
  for (size_t i = 0; i < count; i++)
    if (isfinite(largest[i]) && largest[i] > most) most = largest[i];
  const heed_scale scale = heed_scale_of(kind, tokens, most, locked);
  for (size_t i = 0; i < count; i++) {
    if (group && i % group == 0) votes = 0.0;
    votes += heed_scale_vote(largest[i], tokens, scale.end);
    if (i + 1 == count || (group && (i + 1) % group == 0)) faint = faint || votes < 0.0;
  }
  return kind == HEED_SCALE_AUTO && faint ? heed_scale_of(HEED_SCALE_LOG, tokens, most, locked)
                                          : scale;
}

double heed_scale_place(const heed_scale *scale, double weight, double own) {
  if (scale->kind == HEED_SCALE_LOG) return heed_log_place(weight, scale->tokens, scale->end);
  return heed_linear_place(weight, scale->kind == HEED_SCALE_OWN ? own : scale->end);
}

double heed_scale_top(const heed_scale *scale) {
  return scale->kind == HEED_SCALE_OWN
             ? 1.0
             : scale->end * (scale->kind == HEED_SCALE_SHARE ? 100.0 : scale->tokens);
}

const char *heed_scale_unit(const heed_scale *scale) {
  static const char *const units[] = {"", "\xC3\x97 uniform", "% of the row",
                                      "\xC3\x97 uniform, log", "of its largest"};
  return units[scale->kind];
}

/* ---------------------------------------------------------------------------------------- ticks */

/* Three digits that count, without zeros at their end. */
static void write_tick(heed_scale_tick *tick, double at, double value, const char *before,
                       const char *unit) {
  const size_t skipped = strlen(before);
  uint32_t decimals = 0;
  for (double scaled = value; value > 0.0 && scaled < 100.0 && decimals < 9; scaled *= 10.0)
    decimals++;
  tick->at = at;
  memcpy(tick->text, before, skipped);
  heed_text_number(value, decimals, tick->text + skipped);
  char *end = tick->text + strlen(tick->text);
  while (decimals && end[-1] == '0' && decimals--) *--end = '\0';
  if (end[-1] == '.') *--end = '\0';
  strcpy(end, unit);
}

static const char *before_end(const heed_scale *scale) {
  return scale->beyond ? "\xE2\x89\xA5 " : ""; /* "≥ " */
}

static uint32_t linear_ticks(const heed_scale *scale, heed_scale_tick ticks[HEED_SCALE_TICKS]) {
  const char *unit = scale->kind == HEED_SCALE_SHARE ? " %" : "";
  const double top = heed_scale_top(scale), step = heed_scale_step(top / 4.0);
  uint32_t count = 0;
  for (; count * step < top && count < HEED_SCALE_TICKS - 1; count++)
    write_tick(&ticks[count], count * step / top, count * step, "", unit);
  write_tick(&ticks[count], 1.0, top, before_end(scale), unit);
  return count + 1;
}

static uint32_t log_ticks(const heed_scale *scale, heed_scale_tick ticks[HEED_SCALE_TICKS]) {
  const double top = heed_scale_top(scale);
  double value = heed_log_tick(0.0);
  uint32_t count = 0;
  for (; value < top * (1.0 - 1e-9) && count < HEED_SCALE_TICKS - 1; value = heed_log_tick(value)) {
    const double at = heed_scale_place(scale, value / scale->tokens, 0.0);
    write_tick(&ticks[count++], at, value, "", "");
  }
  write_tick(&ticks[count], 1.0, top, before_end(scale), "");
  return count + 1;
}

/* In characters, of which "≥" is one of three bytes. */
static double room_of(const heed_scale_tick *tick, double label) {
  const size_t characters = strlen(tick->text) - (tick->text[0] == '\xE2' ? 2 : 0);
  return label > 0.0 ? label : (double)characters + 1.0;
}

uint32_t heed_scale_ticks(const heed_scale *scale, double length, double label,
                          heed_scale_tick ticks[HEED_SCALE_TICKS]) {
  const uint32_t count =
      scale->kind == HEED_SCALE_LOG ? log_ticks(scale, ticks) : linear_ticks(scale, ticks);
  const heed_scale_tick end = ticks[count - 1];
  const double last = length - room_of(&end, label);
  double taken = 0.0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i + 1 < count; i++) {
    const double room = room_of(&ticks[i], label),
                 start = i == 0 ? 0.0 : ticks[i].at * length - room / 2.0;
    if (!(start >= taken && start + room <= last)) continue;
    taken = start + room;
    ticks[kept++] = ticks[i];
  }
  ticks[kept] = end;
  return kept + 1;
}
