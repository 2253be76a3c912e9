/* Sums in the file of a survey, a row each. See store.h. */
#include "store_sqlite.h"

#include <string.h>

/* The sums of a head's maps. */
enum { FIRST_ROW, OFFSETS, PREFIX, SQUARES, MAPS };
static const char *const map_names[MAPS] = {"first_row", "offsets", "prefix", "squares"};

/* Those of a head, and how many there are of each. */
static void maps_of(const survey_sums *sums, size_t head, int64_t *data[MAPS], size_t count[MAPS]) {
  int64_t *const all[MAPS] = {sums->first_row, sums->offsets, sums->prefix, sums->squares};
  const size_t each[MAPS] = {survey_tokens(&sums->shape), survey_offsets(&sums->shape),
                             sums->shape.prefix, 1};
  for (int m = 0; m < MAPS; m++) {
    data[m] = all[m] + head * each[m];
    count[m] = each[m];
  }
}

static heed_status write_sum(const survey_store *store, const char *name, uint32_t layer,
                             uint32_t head, int64_t pictures, double unit, const int64_t *data,
                             size_t count) {
  sqlite3_stmt *put = store->sums;
  sqlite3_bind_text(put, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(put, 2, layer);
  sqlite3_bind_int64(put, 3, head);
  sqlite3_bind_int64(put, 4, pictures);
  sqlite3_bind_double(put, 5, unit);
  sqlite3_bind_blob64(put, 6, data, count * sizeof *data, SQLITE_STATIC);
  return survey_sql_finish(store, put);
}

double survey_sql_unit(int bits) {
  double unit = 1.0;
  for (; bits > 0; bits--) unit /= 2.0;
  return unit;
}

static heed_status write_moment(const survey_store *store, const survey_sums *sums, size_t head,
                                const char *name, int64_t pictures, const survey_moments *of,
                                int bits) {
  sqlite3_stmt *put = store->moments;
  const int64_t numbers[] = {
      pictures,  of->sum,    (int64_t)of->squares_high, (int64_t)of->squares_low,
      of->least, of->largest};
  sqlite3_bind_text(put, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(put, 2, (int64_t)(head / sums->shape.heads));
  sqlite3_bind_int64(put, 3, (int64_t)(head % sums->shape.heads));
  for (int i = 0; i < 6; i++) sqlite3_bind_int64(put, 4 + i, numbers[i]);
  sqlite3_bind_double(put, 10, survey_sql_unit(bits));
  return survey_sql_finish(store, put);
}

/* A survey without scenes has no row of their twins. */
static heed_status write_moments(const survey_store *store, const survey_sums *sums, size_t head) {
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    CLI_TRY(write_moment(store, sums, head, survey_statistics[s].name, sums->pictures,
                         &sums->moments[head * SURVEY_STATISTICS + s], survey_statistics[s].bits));
  return sums->twin_pictures
             ? write_moment(store, sums, head, SURVEY_TWIN_WEIGHT, sums->twin_pictures,
                            &sums->twins[head], SURVEY_TWIN_BITS)
             : HEED_OK;
}

heed_status survey_sql_write_sums(const survey_store *store, const survey_sums *sums) {
  const double unit = survey_sql_unit(SURVEY_WEIGHT_BITS);
  for (uint32_t layer = 0; layer < sums->shape.layers; layer++)
    for (uint32_t head = 0; head < sums->shape.heads; head++) {
      const size_t at = (size_t)layer * sums->shape.heads + head;
      int64_t *data[MAPS];
      size_t count[MAPS];
      maps_of(sums, at, data, count);
      CLI_TRY(write_moments(store, sums, at));
      for (size_t s = 0; s < SURVEY_STATISTICS; s++)
        CLI_TRY(write_sum(store, survey_statistics[s].name, layer, head, sums->pictures,
                          survey_bin_width(&sums->shape, s),
                          sums->bins + (at * SURVEY_STATISTICS + s) * SURVEY_BINS, SURVEY_BINS));
      for (int m = 0; m < MAPS; m++)
        CLI_TRY(write_sum(store, map_names[m], layer, head, sums->mapped, unit, data[m], count[m]));
    }
  CLI_TRY(survey_sql_write_maps(store, sums));
  return survey_sql_write_states(store, sums);
}

heed_status survey_sql_fail_sums(const survey_store *store, const char *what) {
  return heed_fail(&store->cli->error, HEED_INVALID_FILE,
                   "%s: not a survey of heed (found other sums of %s)", store->path, what);
}

static heed_status read_sum(const survey_store *store, sqlite3_stmt *select, const char *name,
                            size_t head, uint32_t heads, int64_t *data, size_t count,
                            int64_t *pictures) {
  sqlite3_bind_text(select, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(select, 2, (int64_t)(head / heads));
  sqlite3_bind_int64(select, 3, (int64_t)(head % heads));
  const bool right = sqlite3_step(select) == SQLITE_ROW &&
                     (size_t)sqlite3_column_bytes(select, 1) == count * sizeof *data;
  if (right) {
    *pictures = sqlite3_column_int64(select, 0);
    if (count) memcpy(data, sqlite3_column_blob(select, 1), count * sizeof *data);
  }
  sqlite3_reset(select);
  return right ? HEED_OK : survey_sql_fail_sums(store, name);
}

static bool read_moment(sqlite3_stmt *select, const char *name, size_t head, uint32_t heads,
                        int64_t *pictures, survey_moments *of) {
  sqlite3_bind_text(select, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(select, 2, (int64_t)(head / heads));
  sqlite3_bind_int64(select, 3, (int64_t)(head % heads));
  const bool found = sqlite3_step(select) == SQLITE_ROW;
  if (found) {
    *pictures = sqlite3_column_int64(select, 0);
    *of =
        (survey_moments){sqlite3_column_int64(select, 1), (uint64_t)sqlite3_column_int64(select, 2),
                         (uint64_t)sqlite3_column_int64(select, 3), sqlite3_column_int64(select, 4),
                         sqlite3_column_int64(select, 5)};
  }
  sqlite3_reset(select);
  return found;
}

static heed_status read_moments(const survey_store *store, sqlite3_stmt *select, survey_sums *sums,
                                size_t head) {
  const uint32_t heads = sums->shape.heads;
  int64_t scenes = 0;
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    if (!read_moment(select, survey_statistics[s].name, head, heads, &sums->pictures,
                     &sums->moments[head * SURVEY_STATISTICS + s]))
      return survey_sql_fail_sums(store, survey_statistics[s].name);
  (void)read_moment(select, SURVEY_TWIN_WEIGHT, head, heads, &scenes, &sums->twins[head]);
  if (head && scenes != sums->twin_pictures) return survey_sql_fail_sums(store, SURVEY_TWIN_WEIGHT);
  sums->twin_pictures = scenes;
  return HEED_OK;
}

static heed_status read_head(const survey_store *store, sqlite3_stmt *of, sqlite3_stmt *moments,
                             survey_sums *sums, size_t head) {
  const uint32_t heads = sums->shape.heads;
  int64_t pictures, *data[MAPS];
  size_t count[MAPS];
  maps_of(sums, head, data, count);
  CLI_TRY(read_moments(store, moments, sums, head));
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    CLI_TRY(read_sum(store, of, survey_statistics[s].name, head, heads,
                     sums->bins + (head * SURVEY_STATISTICS + s) * SURVEY_BINS, SURVEY_BINS,
                     &pictures));
  for (int m = 0; m < MAPS; m++)
    CLI_TRY(read_sum(store, of, map_names[m], head, heads, data[m], count[m], &sums->mapped));
  return HEED_OK;
}

/* None, where nothing was committed yet. */
heed_status survey_sql_read_sums(const survey_store *store, survey_sums *sums) {
  sqlite3_stmt *of = NULL, *moments = NULL;
  heed_status status = survey_sql_prepare(
      store, "SELECT pictures, data FROM sums WHERE name = ? AND layer = ? AND head = ?", &of);
  if (status == HEED_OK)
    status = survey_sql_prepare(
        store,
        "SELECT pictures, sum, squares_high, squares_low, least, largest FROM moments"
        " WHERE statistic = ? AND layer = ? AND head = ?",
        &moments);
  for (size_t h = 0; status == HEED_OK && h < survey_heads(&sums->shape); h++)
    status = read_head(store, of, moments, sums, h);
  sqlite3_finalize(of);
  sqlite3_finalize(moments);
  if (status == HEED_OK && (sums->pictures < 0 || sums->pictures > SURVEY_MOST_PICTURES ||
                            sums->mapped < 0 || sums->mapped > sums->pictures ||
                            sums->twin_pictures < 0 || sums->twin_pictures > sums->pictures))
    status = survey_sql_fail_sums(store, "pictures");
  if (status == HEED_OK) status = survey_sql_read_maps(store, sums);
  return status == HEED_OK ? survey_sql_read_states(store, sums) : status;
}
