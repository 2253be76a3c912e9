/* Statistics of many heads of one grid: each row of weights is read once, by scan_row.h.
 *
 * What a query at column c sees of the patches depends on its row only by where it begins: `column`
 * c of a table has rows - 1 lines of patches above the query, its own, and rows - 1 below. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/scan_row.h"
#include "heed/explain.h"

struct heed_map_scan {
  heed_context *context;
  size_t prefix, rows, columns;
  double patch;
  double *distances, *sums; /* [columns][2 rows - 1][columns]: from a query; of weights */
  double *before;           /* [prefix]: of weights */
  float *row;
};

static void fill_distances(heed_map_scan *scan) {
  double *to = scan->distances;
  for (size_t column = 0; column < scan->columns; column++)
    for (size_t r = 0; r < 2 * scan->rows - 1; r++)
      for (size_t c = 0; c < scan->columns; c++) {
        const double down = (double)r - (double)(scan->rows - 1),
                     across = (double)c - (double)column;
        *to++ = sqrt(down * down + across * across);
      }
}

static bool make_tables(heed_map_scan *made, size_t count) {
  heed_context *context = made->context;
  const size_t tokens = made->prefix + made->rows * made->columns;
  made->distances = heed_alloc(context, count + SCAN_SPARE, sizeof(double));
  made->sums = heed_alloc(context, count + SCAN_SPARE, sizeof(double));
  made->before = heed_alloc(context, made->prefix + 1, sizeof(double));
  made->row = heed_alloc(context, tokens + SCAN_SPARE, sizeof(float));
  return made->distances && made->sums && made->before && made->row;
}

heed_status heed_map_scan_create(heed_context *context, uint32_t prefix, uint32_t rows,
                                 uint32_t columns, double patch, heed_map_scan **scan,
                                 heed_error *error) {
  size_t count = 2;
  *scan = NULL;
  if (!rows || !columns)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "scan: no patches (found a grid of %u x %u, expected 1 x 1 at least)", rows,
                     columns);
  if (!heed_size_mul(count, rows, &count) || !heed_size_mul(--count, columns, &count) ||
      !heed_size_mul(count, columns, &count))
    return heed_fail_memory(error, "scan", SIZE_MAX);
  heed_map_scan *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "scan", sizeof *made);
  *made = (heed_map_scan){context, prefix, rows, columns, patch, NULL, NULL, NULL, NULL};
  if (!make_tables(made, count)) {
    heed_map_scan_destroy(made);
    return heed_fail_memory(error, "scan", count * 2 * sizeof(double));
  }
  fill_distances(made);
  *scan = made;
  return HEED_OK;
}

void heed_map_scan_destroy(heed_map_scan *scan) {
  if (!scan) return;
  heed_free(scan->context, scan->distances);
  heed_free(scan->context, scan->sums);
  heed_free(scan->context, scan->before);
  heed_free(scan->context, scan->row);
  heed_free(scan->context, scan);
}

/* Sums of the queries of each column, in this order; the table is zero then. */
static void take_offsets(heed_map_scan *scan, double *offsets) {
  const size_t width = 2 * scan->columns - 1, count = (2 * scan->rows - 1) * width,
               patches = scan->rows * scan->columns;
  double *from = scan->sums;
  for (size_t i = 0; offsets && i < count; i++) offsets[i] = 0.0;
  for (size_t column = 0; column < scan->columns; column++)
    for (size_t r = 0; r < 2 * scan->rows - 1; r++)
      for (size_t c = 0; c < scan->columns; c++, from++) {
        if (offsets) offsets[r * width + scan->columns - 1 - column + c] += *from;
        *from = 0.0;
      }
  for (size_t i = 0; offsets && i < count; i++) offsets[i] /= (double)patches;
}

void heed_map_scan_head(heed_map_scan *scan, const float *attention,
                        heed_map_statistics *statistics, double *offsets, double *prefix,
                        double *squares) {
  const size_t tokens = scan->prefix + scan->rows * scan->columns;
  const double patches = (double)scan->rows * (double)scan->columns;
  const scan_grid grid = {scan->prefix,    scan->rows, scan->columns, scan->row,
                          scan->distances, scan->sums, scan->before};
  scan_sums sums;
  double before = 0.0;
  heed_scan_rows(&grid, attention, &sums);
  take_offsets(scan, offsets);
  for (size_t k = 0; k < scan->prefix; k++) {
    const double mean = scan->before[k] / patches;
    if (prefix) prefix[k] = mean;
    before += mean;
    scan->before[k] = 0.0;
  }
  if (squares) *squares = sums.squares / patches;
  *statistics = (heed_map_statistics){
      .entropy_cls = scan->prefix ? heed_map_entropy(attention, (uint32_t)tokens) : 0.0,
      .entropy_patches = sums.entropy / patches,
      .distance = sums.moment * scan->patch / patches,
      .distance_renormalised = sums.share * scan->patch / patches,
      .prefix_mass = before,
      .self_mass = sums.own / patches,
      .top5_mass = sums.top / patches};
}
