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
};

static size_t line_of(const heed_map_scan *scan) { return (2 * scan->rows - 1) * scan->columns; }

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
  *made = (heed_map_scan){context, prefix, rows, columns, patch, NULL, NULL};
  made->distances = heed_alloc_raw(context, count, sizeof(double));
  made->sums = heed_alloc(context, count, sizeof(double));
  if (!made->distances || !made->sums) {
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
                        heed_map_statistics *statistics, double *offsets) {
  const size_t patches = scan->rows * scan->columns, tokens = scan->prefix + patches;
  heed_map_statistics of = {.entropy_cls =
                                scan->prefix ? heed_map_entropy(attention, (uint32_t)tokens) : 0.0};
  for (size_t q = 0; q < patches; q++) {
    const float *row = attention + (scan->prefix + q) * tokens;
    const size_t seen =
        q % scan->columns * line_of(scan) + (scan->rows - 1 - q / scan->columns) * scan->columns;
    scan_row found;
    heed_scan_row(row, scan->prefix, patches, scan->distances + seen, scan->sums + seen, &found);
    of.entropy_patches += found.entropy;
    of.distance += found.moment;
    if (found.mass != 0.0) of.distance_renormalised += found.moment / found.mass;
    of.self_mass += (double)row[scan->prefix + q];
    of.top5_mass += found.top;
    for (size_t k = 0; k < scan->prefix; k++) of.prefix_mass += (double)row[k];
  }
  take_offsets(scan, offsets);
  of.entropy_patches /= (double)patches;
  of.distance *= scan->patch / (double)patches;
  of.distance_renormalised *= scan->patch / (double)patches;
  of.self_mass /= (double)patches;
  of.top5_mass /= (double)patches;
  of.prefix_mass /= (double)patches;
  *statistics = of;
}
