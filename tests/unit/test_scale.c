/* Colour scales, maps over a picture and the words on it, by the table that the pages' tests read
 * too (web/test/unit/plot.test.js). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "explain/colour_rule.h"
#include "figure/compose.h"
#include "support/test_context.h"

#define MAPS 256
#define ROW 16

static heed_json *table;

static int open_table(void **state) {
  size_t size;
  if (make_context(state)) return -1;
  unsigned char *text = test_read_vector("scale/cases.json", &size);
  const heed_status status = heed_json_parse(context, text, size, "cases.json", &table, &error);
  free(text);
  return status == HEED_OK ? 0 : -1;
}

static int close_table(void **state) {
  heed_json_destroy(table);
  return drop_context(state);
}

static heed_json_value cases(const char *list) {
  const heed_json_value found = heed_json_get(table, heed_json_root(table), list);
  assert_true(heed_json_count(table, found) > 5);
  return heed_json_first(table, found);
}

static const char *string_of(heed_json_value value) {
  const char *text = NULL;
  assert_true(heed_json_string(table, value, &text, NULL));
  return text;
}

static double number_of(heed_json_value value) {
  double number = (double)NAN;
  assert_true(heed_json_double(table, value, &number));
  return number;
}

static heed_json_value member(heed_json_value of, const char *key) {
  const heed_json_value found = heed_json_get(table, of, key);
  if (!found) fail_msg("%s: no %s", string_of(heed_json_get(table, of, "about")), key);
  return found;
}

static double number(heed_json_value of, const char *key) { return number_of(member(of, key)); }
static double number_or(heed_json_value of, const char *key, double other) {
  return heed_json_get(table, of, key) ? number(of, key) : other;
}

static heed_scale_kind kind_of(heed_json_value value) {
  static const char *const names[] = {"auto", "uniform", "share", "log", "own"};
  for (int i = 0; i < 5; i++)
    if (strcmp(string_of(value), names[i]) == 0) return (heed_scale_kind)i;
  fail_msg("no kind %s", string_of(value));
  return HEED_SCALE_AUTO;
}

static void assert_near(heed_json_value of, const char *what, double found, double expected) {
  if (!(fabs(found - expected) <= 1e-9 * fmax(1.0, fabs(expected))))
    fail_msg("%s: %s is %.17g, expected %.17g", string_of(member(of, "about")), what, found,
             expected);
}

/* --------------------------------------------------------------------------------------- scales */

static void check_ticks(heed_json_value one, const heed_scale *scale) {
  const heed_json_value list = member(one, "ticks");
  heed_scale_tick ticks[HEED_SCALE_TICKS];
  const uint32_t count =
      heed_scale_ticks(scale, number(one, "length"), number_or(one, "label", 0.0), ticks);
  uint32_t i = 0;
  if (count != heed_json_count(table, list))
    fail_msg("%s: %u ticks, expected %u", string_of(member(one, "about")), count,
             heed_json_count(table, list));
  for (heed_json_value tick = heed_json_first(table, list); tick;
       tick = heed_json_next(table, list, tick), i++) {
    const heed_json_value at = heed_json_first(table, tick);
    assert_near(one, ticks[i].text, ticks[i].at, number_of(at));
    assert_string_equal(ticks[i].text, string_of(heed_json_next(table, tick, at)));
  }
}

static void test_scales(void **state) {
  (void)state;
  const heed_json_value list = heed_json_get(table, heed_json_root(table), "scales");
  for (heed_json_value one = cases("scales"); one; one = heed_json_next(table, list, one)) {
    const heed_scale scale =
        heed_scale_of(kind_of(member(one, "kind")), (uint32_t)number(one, "tokens"),
                      number(one, "largest"), number_or(one, "locked", 0.0));
    const heed_json_value positions = member(one, "positions");
    assert_near(one, "end", heed_scale_top(&scale), number(one, "end"));
    for (heed_json_value pair = heed_json_first(table, positions); pair;
         pair = heed_json_next(table, positions, pair)) {
      const heed_json_value weight = heed_json_first(table, pair);
      assert_near(one, "place",
                  heed_scale_place(&scale, number_of(weight), number_or(one, "own", 1.0)),
                  number_of(heed_json_next(table, pair, weight)));
    }
    check_ticks(one, &scale);
  }
}

static void test_grids(void **state) {
  (void)state;
  const heed_json_value list = heed_json_get(table, heed_json_root(table), "grids");
  for (heed_json_value one = cases("grids"); one; one = heed_json_next(table, list, one)) {
    const heed_json_value maps = member(one, "maps");
    double largest[MAPS];
    size_t count = 0;
    for (heed_json_value pair = heed_json_first(table, maps); pair;
         pair = heed_json_next(table, maps, pair)) {
      const heed_json_value times = heed_json_first(table, pair);
      for (double i = 0.0; i < number_of(times); i += 1.0) {
        assert_true(count < MAPS);
        largest[count++] = number_of(heed_json_next(table, pair, times));
      }
    }
    const uint32_t tokens = (uint32_t)number(one, "tokens");
    const double locked = number_or(one, "locked", 0.0);
    const size_t group = (size_t)number_or(one, "group", 0.0);
    const heed_scale scale =
        heed_scale_of_maps(HEED_SCALE_AUTO, tokens, largest, count, group, locked);
    assert_int_equal(scale.kind, kind_of(member(one, "kind")));
    assert_near(one, "end", heed_scale_top(&scale), number(one, "end"));
    for (int asked = HEED_SCALE_UNIFORM; asked <= HEED_SCALE_OWN; asked++)
      assert_int_equal(
          heed_scale_of_maps((heed_scale_kind)asked, tokens, largest, count, group, locked).kind,
          asked);
  }
}

static void test_odd_numbers(void **state) {
  (void)state;
  const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1.0};
  for (int i = 0; i < 4; i++)
    assert_true(
        fabs(heed_scale_top(&(heed_scale){HEED_SCALE_UNIFORM, 197,
                                          heed_scale_of(HEED_SCALE_AUTO, 197, odd[i], 0.0).end}) -
             4.0) < 1e-12);
  for (int kind = HEED_SCALE_UNIFORM; kind <= HEED_SCALE_OWN; kind++) {
    const heed_scale scale = heed_scale_of((heed_scale_kind)kind, 197, 0.5, 0.0);
    assert_true(isnan(heed_scale_place(&scale, (double)NAN, 0.5)));
    assert_true(heed_scale_place(&scale, (double)INFINITY, 0.5) > 1.0);
    assert_true(heed_scale_place(&scale, 0.0, 0.0) == 0.0);
  }
  const double grid[] = {(double)NAN, (double)INFINITY, 0.25};
  assert_true(heed_scale_of_maps(HEED_SCALE_UNIFORM, 197, grid, 3, 0, 0.0).end == 0.25);
}

static void test_steps(void **state) {
  (void)state;
  static const double least[][2] = {
      {1.0, 1.0},     {1.001, 1.0}, {1.01, 2.0},         {2.4, 2.5},   {4.9, 5.0},
      {5.1, 10.0},    {0.03, 0.05}, {0.0, 0.0},          {-1.0, -1.0}, {1e-310, 1e-310},
      {9e305, 1e306}, {3e-9, 5e-9}, {HUGE_VAL, HUGE_VAL}};
  for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
    const double found = heed_scale_step(least[i][0]), expected = least[i][1];
    if (!(found == expected || fabs(found - expected) <= 1e-12 * fabs(expected)))
      fail_msg("step from %g: %.17g, expected %g", least[i][0], found, expected);
  }
  assert_true(isnan(heed_scale_step((double)NAN)));
}

/* ------------------------------------------------------------------------------------- overlays */

static double weight_of(heed_json_value value) {
  double weight = (double)NAN; /* null */
  heed_json_double(table, value, &weight);
  return weight;
}

static void check_overlay(heed_json_value one, const heed_scale *scale, double own) {
  const heed_json_value weights = member(one, "weights"), colors = member(one, "rgba");
  heed_json_value color = heed_json_first(table, colors);
  assert_int_equal(heed_json_count(table, weights), heed_json_count(table, colors));
  for (heed_json_value weight = heed_json_first(table, weights); weight;
       weight = heed_json_next(table, weights, weight),
                       color = heed_json_next(table, colors, color)) {
    heed_json_value expected = heed_json_first(table, color);
    uint8_t rgba[4];
    heed_overlay_colour(HEED_COLORMAP_GREY, heed_scale_place(scale, weight_of(weight), own), rgba);
    for (int c = 0; c < 4; c++, expected = heed_json_next(table, color, expected))
      assert_near(one, c < 3 ? "colour" : "opacity", rgba[c], number_of(expected));
  }
}

static void test_overlays(void **state) {
  (void)state;
  const heed_json_value list = heed_json_get(table, heed_json_root(table), "overlays");
  for (heed_json_value one = cases("overlays"); one; one = heed_json_next(table, list, one)) {
    const heed_scale scale =
        heed_scale_of(kind_of(member(one, "kind")), (uint32_t)number(one, "tokens"),
                      number(one, "largest"), number_or(one, "locked", 0.0));
    const heed_json_value weights = member(one, "weights");
    double own = 0.0;
    for (heed_json_value weight = heed_json_first(table, weights); weight;
         weight = heed_json_next(table, weights, weight))
      own = fmax(own, weight_of(weight));
    check_overlay(one, &scale, own);
  }
}

/* A row's own colours: those of a linear scale that ends at its largest weight, or at 4 x uniform.
 */
static void test_map_overlay(void **state) {
  (void)state;
  static const struct {
    float weights[5];
    uint32_t tokens;
    double end;
  } rows[] = {{{0.5f, 0.25f, 0.0f, 0.125f, NAN}, 20, 0.5},
              {{0.01f, 0.02f, 0.0f, 0.05f, -1.0f}, 20, 0.2},
              {{0.25f, INFINITY, 0.5f, 0.25f, 0.0f}, 3, 1.0},
              {{0.0f, 0.0f, 0.0f, 0.0f, 0.0f}, 100, 0.04}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    uint8_t found[20], expected[20];
    heed_map_overlay(HEED_COLORMAP_CIVIDIS, rows[r].weights, 5, rows[r].tokens, found);
    for (int i = 0; i < 5; i++)
      heed_overlay_colour(HEED_COLORMAP_CIVIDIS, (double)rows[r].weights[i] / rows[r].end,
                          expected + 4 * i);
    assert_memory_equal(found, expected, sizeof found);
  }
}

/* ---------------------------------------------------------------------------------------- words */

static void test_elsewhere(void **state) {
  (void)state;
  static const char *const kinds[] = {"attention", "column", "rollout"};
  static const char *const names[12] = {"CLS", "register 1"};
  const heed_json_value list = heed_json_get(table, heed_json_root(table), "elsewhere");
  for (heed_json_value one = cases("elsewhere"); one; one = heed_json_next(table, list, one)) {
    const heed_json_value weights = member(one, "row");
    char text[HEED_MAP_ELSEWHERE_SIZE];
    float row[ROW];
    uint32_t n = 0, kind = 0;
    for (heed_json_value weight = heed_json_first(table, weights); weight;
         weight = heed_json_next(table, weights, weight)) {
      assert_true(n < ROW);
      row[n++] = (float)number_of(weight);
    }
    while (strcmp(kinds[kind], string_of(member(one, "kind"))) != 0) kind++;
    const char *found =
        heed_map_elsewhere(row, n, (uint32_t)number(one, "prefix"), names,
                           (uint32_t)number(one, "token"), (heed_row_kind)kind, text);
    assert_string_equal(found, string_of(member(one, "says")));
  }
  const float odd[] = {NAN, 0.0f, 0.0f};
  char text[HEED_MAP_ELSEWHERE_SIZE];
  assert_string_equal(heed_map_elsewhere(odd, 3, 1, names, 1, HEED_ROW_ATTENTION, text), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scales),      cmocka_unit_test(test_grids),
      cmocka_unit_test(test_odd_numbers), cmocka_unit_test(test_steps),
      cmocka_unit_test(test_overlays),    cmocka_unit_test(test_map_overlay),
      cmocka_unit_test(test_elsewhere)};
  return cmocka_run_group_tests(tests, open_table, close_table);
}
