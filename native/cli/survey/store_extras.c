/* What a survey's file has on request: names of classes, embeddings, sums of maps. See store.h. */
#include <stdlib.h>
#include <string.h>

#include "heed/explain.h"
#include "store_sqlite.h"

heed_status survey_store_name_classes(survey_store *store, const heed_model *model,
                                      uint32_t count) {
  sqlite3_stmt *put = NULL;
  if (!count) return HEED_OK;
  CLI_TRY(survey_sql_begin(store));
  heed_status status =
      survey_sql_prepare(store, "INSERT OR IGNORE INTO classes VALUES(?, ?)", &put);
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) {
    const char *label = heed_model_label(model, i);
    if (!label || !*label) continue;
    sqlite3_bind_int64(put, 1, i);
    sqlite3_bind_text(put, 2, label, -1, SQLITE_STATIC);
    status = survey_sql_finish(store, put);
  }
  sqlite3_finalize(put);
  return status;
}

/* ------------------------------------------------------------------------------------- embeddings
 */

heed_status survey_sql_add_embedding(const survey_store *store, int64_t picture,
                                     const float *embedding) {
  sqlite3_stmt *put = store->embedding;
  if (!store->shape.embedding) return HEED_OK;
  sqlite3_bind_int64(put, 1, picture);
  sqlite3_bind_blob64(put, 2, embedding, store->shape.embedding * sizeof *embedding, SQLITE_STATIC);
  return survey_sql_finish(store, put);
}

heed_status survey_store_embeddings(const survey_store *store, int64_t from, uint32_t most,
                                    float *rows, int32_t *pictures, uint32_t *count) {
  sqlite3_stmt *select = NULL;
  const size_t size = store->shape.embedding * sizeof *rows;
  heed_status status = survey_sql_prepare(
      store, "SELECT picture, data FROM embeddings WHERE picture >= ? ORDER BY picture LIMIT ?",
      &select);
  if (status == HEED_OK) {
    sqlite3_bind_int64(select, 1, from);
    sqlite3_bind_int64(select, 2, most);
  }
  for (*count = 0; status == HEED_OK && sqlite3_step(select) == SQLITE_ROW; ++*count) {
    if ((size_t)sqlite3_column_bytes(select, 1) != size)
      status = survey_sql_fail_sums(store, "embeddings");
    else
      memcpy((char *)rows + *count * size, sqlite3_column_blob(select, 1), size);
    pictures[*count] = (int32_t)sqlite3_column_int64(select, 0);
  }
  sqlite3_finalize(select);
  return status;
}

/* ------------------------------------------------------------------------------------------- maps
 */

heed_status survey_sql_write_maps(const survey_store *store, const survey_sums *sums) {
  sqlite3_stmt *put = NULL;
  const size_t patches = survey_patches(&sums->shape);
  const int64_t *data = sums->maps;
  if (!sums->shape.maps) return HEED_OK;
  heed_status status =
      survey_sql_prepare(store, "INSERT OR REPLACE INTO map_sums VALUES(?, ?, ?, ?)", &put);
  for (uint32_t i = 0; i < SURVEY_MOST_MAPS && status == HEED_OK; i++) {
    if (!(sums->shape.maps >> i & 1)) continue;
    sqlite3_bind_text(put, 1, heed_patch_map_name(i), -1, SQLITE_STATIC);
    sqlite3_bind_int64(put, 2, sums->mapped);
    sqlite3_bind_double(put, 3, survey_sql_unit(SURVEY_MAP_BITS));
    sqlite3_bind_blob64(put, 4, data, patches * sizeof *data, SQLITE_STATIC);
    status = survey_sql_finish(store, put);
    data += patches;
  }
  sqlite3_finalize(put);
  return status;
}

static bool find_map(const char *name, uint32_t *index) {
  const char *known;
  for (*index = 0; *index < SURVEY_MOST_MAPS && (known = heed_patch_map_name(*index)) != NULL;
       ++*index)
    if (name && strcmp(name, known) == 0) return true;
  return false;
}

heed_status survey_sql_read_map_names(const survey_store *store, survey_shape *shape) {
  sqlite3_stmt *select = NULL;
  uint32_t index;
  heed_status status = survey_sql_prepare(store, "SELECT name FROM map_sums", &select);
  shape->maps = 0;
  while (status == HEED_OK && sqlite3_step(select) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(select, 0);
    if (find_map(name, &index))
      shape->maps |= UINT32_C(1) << index;
    else
      status = survey_sql_fail_sums(store, name ? name : "maps");
  }
  sqlite3_finalize(select);
  return status;
}

heed_status survey_sql_read_maps(const survey_store *store, survey_sums *sums) {
  sqlite3_stmt *select = NULL;
  const size_t patches = survey_patches(&sums->shape), bytes = patches * sizeof *sums->maps;
  int64_t *data = sums->maps;
  heed_status status =
      survey_sql_prepare(store, "SELECT data FROM map_sums WHERE name = ?", &select);
  for (uint32_t i = 0; i < SURVEY_MOST_MAPS && status == HEED_OK; i++) {
    if (!(sums->shape.maps >> i & 1)) continue;
    sqlite3_bind_text(select, 1, heed_patch_map_name(i), -1, SQLITE_STATIC);
    if (sqlite3_step(select) == SQLITE_ROW && (size_t)sqlite3_column_bytes(select, 0) == bytes)
      memcpy(data, sqlite3_column_blob(select, 0), bytes);
    else
      status = survey_sql_fail_sums(store, heed_patch_map_name(i));
    sqlite3_reset(select);
    data += patches;
  }
  sqlite3_finalize(select);
  return status;
}
