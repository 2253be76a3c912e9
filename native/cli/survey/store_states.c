/* Sums of layers in the file of a survey. See store.h. */
#include <string.h>

#include "store_sqlite.h"

static heed_status write_moments(const survey_store *store, const survey_sums *sums,
                                 sqlite3_stmt *put, uint32_t layer) {
  for (size_t n = 0; n < SURVEY_NORMS; n++) {
    const survey_moments *of = &sums->states.moments[layer * SURVEY_NORMS + n];
    const int64_t numbers[] = {sums->states.pictures,    of->sum,   (int64_t)of->squares_high,
                               (int64_t)of->squares_low, of->least, of->largest};
    sqlite3_bind_text(put, 1, survey_norm_names[n], -1, SQLITE_STATIC);
    sqlite3_bind_int64(put, 2, layer);
    for (int i = 0; i < 6; i++) sqlite3_bind_int64(put, 3 + i, numbers[i]);
    sqlite3_bind_double(put, 9, survey_sql_unit(SURVEY_NORM_BITS));
    CLI_TRY(survey_sql_finish(store, put));
  }
  return HEED_OK;
}

static heed_status write_sum(const survey_store *store, sqlite3_stmt *put, const char *name,
                             uint32_t layer, int64_t pictures, double unit, const int64_t *data,
                             size_t count) {
  sqlite3_bind_text(put, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(put, 2, layer);
  sqlite3_bind_int64(put, 3, pictures);
  sqlite3_bind_double(put, 4, unit);
  sqlite3_bind_blob64(put, 5, data, count * sizeof *data, SQLITE_STATIC);
  return survey_sql_finish(store, put);
}

static heed_status write_layer(const survey_store *store, const survey_sums *sums,
                               sqlite3_stmt *moments, sqlite3_stmt *put, uint32_t layer) {
  const survey_states *states = &sums->states;
  const size_t tokens = survey_tokens(&sums->shape), patches = survey_patches(&sums->shape);
  CLI_TRY(write_moments(store, sums, moments, layer));
  CLI_TRY(write_sum(store, put, "norms", layer, states->mapped, survey_sql_unit(SURVEY_NORM_BITS),
                    states->norms + layer * tokens, tokens));
  return write_sum(store, put, "outliers", layer, states->mapped, 1.0,
                   states->outliers + layer * patches, patches);
}

heed_status survey_sql_write_states(const survey_store *store, const survey_sums *sums) {
  sqlite3_stmt *moments = NULL, *put = NULL;
  if (!sums->states.pictures) return HEED_OK; /* a model without taps of states has no rows */
  heed_status status = survey_sql_prepare(
      store, "INSERT OR REPLACE INTO layer_moments VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", &moments);
  if (status == HEED_OK)
    status =
        survey_sql_prepare(store, "INSERT OR REPLACE INTO layer_sums VALUES(?, ?, ?, ?, ?)", &put);
  for (uint32_t layer = 0; status == HEED_OK && layer < sums->shape.layers; layer++)
    status = write_layer(store, sums, moments, put, layer);
  sqlite3_finalize(moments);
  sqlite3_finalize(put);
  return status;
}

static heed_status read_moments(const survey_store *store, sqlite3_stmt *select, survey_sums *sums,
                                uint32_t layer) {
  for (size_t n = 0; n < SURVEY_NORMS; n++) {
    sqlite3_bind_text(select, 1, survey_norm_names[n], -1, SQLITE_STATIC);
    sqlite3_bind_int64(select, 2, layer);
    const bool found = sqlite3_step(select) == SQLITE_ROW;
    if (found) {
      sums->states.pictures = sqlite3_column_int64(select, 0);
      sums->states.moments[layer * SURVEY_NORMS + n] = (survey_moments){
          sqlite3_column_int64(select, 1), (uint64_t)sqlite3_column_int64(select, 2),
          (uint64_t)sqlite3_column_int64(select, 3), sqlite3_column_int64(select, 4),
          sqlite3_column_int64(select, 5)};
    }
    sqlite3_reset(select);
    if (!found) return survey_sql_fail_sums(store, survey_norm_names[n]);
  }
  return HEED_OK;
}

static heed_status read_sum(const survey_store *store, sqlite3_stmt *select, const char *name,
                            uint32_t layer, int64_t *data, size_t count, int64_t *pictures) {
  sqlite3_bind_text(select, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(select, 2, layer);
  const bool right = sqlite3_step(select) == SQLITE_ROW &&
                     (size_t)sqlite3_column_bytes(select, 1) == count * sizeof *data;
  if (right) {
    *pictures = sqlite3_column_int64(select, 0);
    memcpy(data, sqlite3_column_blob(select, 1), count * sizeof *data);
  }
  sqlite3_reset(select);
  return right ? HEED_OK : survey_sql_fail_sums(store, name);
}

static heed_status has_states(const survey_store *store, bool *has) {
  sqlite3_stmt *select = NULL;
  CLI_TRY(survey_sql_prepare(store, "SELECT 1 FROM layer_moments LIMIT 1", &select));
  *has = sqlite3_step(select) == SQLITE_ROW;
  sqlite3_finalize(select);
  return HEED_OK;
}

heed_status survey_sql_read_states(const survey_store *store, survey_sums *sums) {
  sqlite3_stmt *moments = NULL, *of = NULL;
  survey_states *states = &sums->states;
  const size_t tokens = survey_tokens(&sums->shape), patches = survey_patches(&sums->shape);
  bool has;
  CLI_TRY(has_states(store, &has));
  if (!has) return HEED_OK;
  heed_status status = survey_sql_prepare(
      store,
      "SELECT pictures, sum, squares_high, squares_low, least, largest FROM layer_moments"
      " WHERE statistic = ? AND layer = ?",
      &moments);
  if (status == HEED_OK)
    status = survey_sql_prepare(
        store, "SELECT pictures, data FROM layer_sums WHERE name = ? AND layer = ?", &of);
  for (uint32_t layer = 0; status == HEED_OK && layer < sums->shape.layers; layer++) {
    status = read_moments(store, moments, sums, layer);
    if (status == HEED_OK)
      status = read_sum(store, of, "norms", layer, states->norms + layer * tokens, tokens,
                        &states->mapped);
    if (status == HEED_OK)
      status = read_sum(store, of, "outliers", layer, states->outliers + layer * patches, patches,
                        &states->mapped);
  }
  sqlite3_finalize(moments);
  sqlite3_finalize(of);
  if (status == HEED_OK && (states->pictures < 0 || states->pictures > sums->pictures ||
                            states->mapped < 0 || states->mapped > states->pictures))
    status = survey_sql_fail_sums(store, "layers");
  return status;
}
