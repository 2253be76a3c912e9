/* Two surveys by their common images. See store.h. */
#include <math.h>
#include <stdlib.h>

#include "store_sqlite.h"

/* The differences of one head: of each statistic sum and sum of squares, in the order of images. */
static const char select_rows[] =
    "SELECT a.entropy_cls, b.entropy_cls, a.entropy_patches, b.entropy_patches,"
    " a.distance, b.distance, a.distance_renormalised, b.distance_renormalised,"
    " a.prefix_mass, b.prefix_mass, a.self_mass, b.self_mass, a.top5_mass, b.top5_mass"
    " FROM main.pictures AS p JOIN part.pictures AS q ON q.path = p.path"
    " JOIN main.heads AS a ON a.picture = p.id JOIN part.heads AS b ON b.picture = q.id"
    " AND b.layer = a.layer AND b.head = a.head WHERE a.layer = ? AND a.head = ? ORDER BY p.id";

/* Welford's (1962): a spread that is small beside the mean keeps its digits. */
static int64_t pair_head(sqlite3_stmt *select, double *mean, double *spread) {
  int64_t count = 0;
  while (sqlite3_step(select) == SQLITE_ROW) {
    count++;
    for (int s = 0; s < SURVEY_STATISTICS; s++) {
      const double difference =
          sqlite3_column_double(select, 2 * s + 1) - sqlite3_column_double(select, 2 * s);
      const double before = difference - mean[s];
      mean[s] += before / (double)count;
      spread[s] += before * (difference - mean[s]);
    }
  }
  for (int s = 0; s < SURVEY_STATISTICS; s++)
    spread[s] = count > 1 ? sqrt(spread[s] / (double)(count - 1)) : 0.0;
  return count;
}

/* An image that a list names twice would be paired with both. */
static heed_status check_once(const survey_store *store, const char *sql, const char *path) {
  sqlite3_stmt *select = NULL;
  CLI_TRY(survey_sql_prepare(store, sql, &select));
  const bool once = sqlite3_step(select) == SQLITE_DONE;
  const char *image = once ? NULL : (const char *)sqlite3_column_text(select, 0);
  const heed_status status =
      once ? HEED_OK
           : heed_fail(&store->cli->error, HEED_INVALID_ARGUMENT,
                       "%s: the same image twice (found %.200s, expected each once, to pair them)",
                       path, image ? image : "");
  sqlite3_finalize(select);
  return status;
}

static heed_status pair(survey_store *store, const char *b, const survey_shape *shape,
                        survey_pairs *pairs) {
  sqlite3_stmt *select = NULL;
  CLI_TRY(survey_sql_attach(store, b));
  CLI_TRY(check_once(store,
                     "SELECT path FROM main.pictures GROUP BY path HAVING count(*) > 1 LIMIT 1",
                     store->path));
  CLI_TRY(check_once(
      store, "SELECT path FROM part.pictures GROUP BY path HAVING count(*) > 1 LIMIT 1", b));
  CLI_TRY(survey_sql_prepare(store, select_rows, &select));
  for (size_t head = 0; head < survey_heads(shape); head++) {
    sqlite3_bind_int64(select, 1, (int64_t)(head / shape->heads));
    sqlite3_bind_int64(select, 2, (int64_t)(head % shape->heads));
    pairs->count = pair_head(select, pairs->mean + head * SURVEY_STATISTICS,
                             pairs->spread + head * SURVEY_STATISTICS);
    sqlite3_reset(select);
  }
  sqlite3_finalize(select);
  return HEED_OK;
}

heed_status survey_store_pair(cli_state *cli, const char *a, const char *b,
                              const survey_shape *shape, survey_pairs *pairs) {
  const size_t count = survey_heads(shape) * SURVEY_STATISTICS;
  survey_store *store = NULL;
  *pairs = (survey_pairs){.mean = calloc(count + 1, sizeof(double)),
                          .spread = calloc(count + 1, sizeof(double))};
  if (!pairs->mean || !pairs->spread)
    return heed_fail_memory(&cli->error, "survey", count * sizeof(double));
  heed_status status = survey_sql_open(cli, a, SQLITE_OPEN_READONLY, &store);
  if (status == HEED_OK) status = pair(store, b, shape, pairs);
  survey_store_close(store);
  return status;
}

int64_t survey_store_first(const survey_store *store) {
  sqlite3_stmt *select = NULL;
  int64_t first = -1;
  if (survey_sql_prepare(store, "SELECT picture FROM heads ORDER BY picture LIMIT 1", &select) ==
          HEED_OK &&
      sqlite3_step(select) == SQLITE_ROW)
    first = sqlite3_column_int64(select, 0);
  sqlite3_finalize(select);
  return first;
}

static bool is_same_head(sqlite3_stmt *select, const survey_numbers *numbers, size_t head) {
  const double *of = numbers->statistics + head * SURVEY_STATISTICS;
  for (int s = 0; s < SURVEY_STATISTICS; s++)
    if (sqlite3_column_double(select, s) != of[s]) return false;
  return sqlite3_column_int(select, SURVEY_STATISTICS + 1) == numbers->twins &&
         (!numbers->twins ||
          sqlite3_column_double(select, SURVEY_STATISTICS) == numbers->twin_weights[head]);
}

bool survey_store_same(const survey_store *store, int64_t picture, const survey_numbers *numbers) {
  sqlite3_stmt *select = NULL;
  size_t rows = 0;
  bool same = survey_sql_prepare(store,
                                 "SELECT entropy_cls, entropy_patches, distance,"
                                 " distance_renormalised, prefix_mass, self_mass, top5_mass,"
                                 " twin_weight, twin_weight IS NOT NULL"
                                 " FROM heads WHERE picture = ? ORDER BY layer, head",
                                 &select) == HEED_OK;
  sqlite3_bind_int64(select, 1, picture);
  while (same && sqlite3_step(select) == SQLITE_ROW && rows < survey_heads(&store->shape)) {
    same = is_same_head(select, numbers, rows++);
  }
  sqlite3_finalize(select);
  return same && rows == survey_heads(&store->shape);
}

void survey_pairs_free(survey_pairs *pairs) {
  free(pairs->mean);
  free(pairs->spread);
  *pairs = (survey_pairs){0};
}
