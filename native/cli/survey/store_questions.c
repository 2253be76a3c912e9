/* What reports ask of a survey's file. See store.h. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "store_sqlite.h"

heed_status survey_store_typical(const survey_store *store, const survey_sums *sums,
                                 survey_typical *typical) {
  char sql[128];
  sqlite3_stmt *select = NULL;
  const survey_shape *shape = &store->shape;
  snprintf(sql, sizeof sql, "SELECT picture, layer, head, %s FROM heads",
           survey_statistics[typical->statistic].name);
  CLI_TRY(survey_sql_prepare(store, sql, &select));
  while (sqlite3_step(select) == SQLITE_ROW) {
    const int64_t layer = sqlite3_column_int64(select, 1), head = sqlite3_column_int64(select, 2);
    if (layer < 0 || layer >= shape->layers || head < 0 || head >= shape->heads) continue;
    survey_typical_offer(typical, sums, (size_t)layer * shape->heads + (size_t)head,
                         sqlite3_column_int64(select, 0), sqlite3_column_double(select, 3));
  }
  sqlite3_finalize(select);
  return HEED_OK;
}

heed_status survey_store_path(const survey_store *store, int64_t picture, char **path) {
  sqlite3_stmt *select = NULL;
  *path = NULL;
  CLI_TRY(survey_sql_prepare(store, "SELECT path FROM pictures WHERE id = ?", &select));
  sqlite3_bind_int64(select, 1, picture);
  if (sqlite3_step(select) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(select, 0);
    *path = strdup(text ? text : "");
  }
  sqlite3_finalize(select);
  return *path ? HEED_OK
               : heed_fail(&store->cli->error, HEED_INVALID_FILE,
                           "%s: not a survey of heed (found no picture %lld)", store->path,
                           (long long)picture);
}

heed_status survey_store_classes(const survey_store *store, void *user,
                                 void (*see)(void *user, int64_t class_, const char *name,
                                             int64_t pictures)) {
  sqlite3_stmt *select = NULL;
  CLI_TRY(survey_sql_prepare(
      store, "SELECT class, name, pictures FROM class_shares ORDER BY pictures DESC, class",
      &select));
  while (sqlite3_step(select) == SQLITE_ROW)
    see(user, sqlite3_column_int64(select, 0), (const char *)sqlite3_column_text(select, 1),
        sqlite3_column_int64(select, 2));
  sqlite3_finalize(select);
  return HEED_OK;
}

heed_status survey_store_failures(const survey_store *store, void *user,
                                  void (*see)(void *user, const char *path, const char *why)) {
  sqlite3_stmt *select = NULL;
  CLI_TRY(
      survey_sql_prepare(store, "SELECT path, error FROM failed_pictures ORDER BY id", &select));
  while (sqlite3_step(select) == SQLITE_ROW) {
    const char *path = (const char *)sqlite3_column_text(select, 0),
               *why = (const char *)sqlite3_column_text(select, 1);
    see(user, path ? path : "", why ? why : "");
  }
  sqlite3_finalize(select);
  return HEED_OK;
}
