/* The file of a survey in SQLite. See store.h. */
#define _POSIX_C_SOURCE 200809L
#include "store_sqlite.h"

#include <stdlib.h>
#include <string.h>

#include "files/os.h"
#include "storage.h"

#define SURVEY_SCHEMA 4

/* docs/surveys.md describes it; a change of a meaning makes the next SURVEY_SCHEMA. */
static const char schema[] =
    "CREATE TABLE survey(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE pictures(id INTEGER PRIMARY KEY, path TEXT NOT NULL, label TEXT,"
    " width INTEGER, height INTEGER, class INTEGER, mapped INTEGER, error TEXT);"
    "CREATE TABLE heads(picture INTEGER, layer INTEGER, head INTEGER, entropy_cls REAL,"
    " entropy_patches REAL, distance REAL, distance_renormalised REAL, prefix_mass REAL,"
    " self_mass REAL, top5_mass REAL, twin_weight REAL, PRIMARY KEY(picture, layer, head)) WITHOUT "
    "ROWID;"
    "CREATE TABLE moments(statistic TEXT, layer INTEGER, head INTEGER, pictures INTEGER,"
    " sum INTEGER, squares_high INTEGER, squares_low INTEGER, least INTEGER, largest INTEGER,"
    " unit REAL, PRIMARY KEY(statistic, layer, head)) WITHOUT ROWID;"
    "CREATE TABLE sums(name TEXT, layer INTEGER, head INTEGER, pictures INTEGER, unit REAL,"
    " data BLOB, PRIMARY KEY(name, layer, head)) WITHOUT ROWID;"
    "CREATE TABLE layer_moments(statistic TEXT, layer INTEGER, pictures INTEGER, sum INTEGER,"
    " squares_high INTEGER, squares_low INTEGER, least INTEGER, largest INTEGER, unit REAL,"
    " PRIMARY KEY(statistic, layer)) WITHOUT ROWID;"
    "CREATE TABLE layer_sums(name TEXT, layer INTEGER, pictures INTEGER, unit REAL, data BLOB,"
    " PRIMARY KEY(name, layer)) WITHOUT ROWID;"
    "CREATE TABLE classes(class INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE embeddings(picture INTEGER PRIMARY KEY, data BLOB);"
    "CREATE TABLE map_sums(name TEXT PRIMARY KEY, pictures INTEGER, unit REAL, data BLOB)"
    " WITHOUT ROWID;"
    "CREATE VIEW layer_means AS SELECT layer, statistic, pictures,"
    " sum * unit / pictures AS mean, least * unit AS least, largest * unit AS largest"
    " FROM layer_moments WHERE pictures > 0;"
    "CREATE VIEW head_means AS SELECT layer, head, statistic, pictures,"
    " sum * unit / pictures AS mean, least * unit AS least, largest * unit AS largest FROM moments"
    " WHERE pictures > 0;"
    "CREATE VIEW read_pictures AS SELECT * FROM pictures WHERE error IS NULL;"
    "CREATE VIEW failed_pictures AS SELECT id, path, error FROM pictures"
    " WHERE error IS NOT NULL;"
    "CREATE VIEW class_shares AS SELECT class, name, count(*) AS pictures,"
    " 1.0 * count(*) / (SELECT count(*) FROM read_pictures WHERE class IS NOT NULL) AS share"
    " FROM read_pictures LEFT JOIN classes USING (class) WHERE class IS NOT NULL GROUP BY class;";

/* ------------------------------------------------------------------------------------- sentences
 */

heed_status survey_sql_fail(const survey_store *store, const char *doing) {
  const int code = sqlite3_errcode(store->db);
  const heed_status status = code == SQLITE_NOMEM                              ? HEED_OUT_OF_MEMORY
                             : code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? HEED_INVALID_FILE
                                                                               : HEED_IO;
  return heed_fail(&store->cli->error, status, "%s: %s (%s)", store->path, doing,
                   sqlite3_errmsg(store->db));
}

static heed_status execute(const survey_store *store, const char *sql, const char *doing) {
  return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK
             ? HEED_OK
             : survey_sql_fail(store, doing);
}

heed_status survey_sql_prepare(const survey_store *store, const char *sql,
                               sqlite3_stmt **statement) {
  return sqlite3_prepare_v2(store->db, sql, -1, statement, NULL) == SQLITE_OK
             ? HEED_OK
             : survey_sql_fail(store, "not a survey of heed");
}

/* Runs a statement that gives no rows, for its next use. */
heed_status survey_sql_finish(const survey_store *store, sqlite3_stmt *statement) {
  const int code = sqlite3_step(statement);
  const heed_status status = code == SQLITE_DONE ? HEED_OK : survey_sql_fail(store, "cannot write");
  sqlite3_reset(statement);
  return status;
}

/* ---------------------------------------------------------------------------------------- identity
 */

static heed_status write_value(const survey_store *store, sqlite3_stmt *insert, const char *key,
                               const char *value) {
  sqlite3_bind_text(insert, 1, key, -1, SQLITE_STATIC);
  sqlite3_bind_text(insert, 2, value, -1, SQLITE_TRANSIENT);
  return survey_sql_finish(store, insert);
}

static heed_status write_identity(const survey_store *store, const survey_identity *identity) {
  sqlite3_stmt *insert = NULL;
  char number[32];
  heed_status status = survey_sql_prepare(store, "INSERT INTO survey VALUES(?, ?)", &insert);
  if (status == HEED_OK) status = write_value(store, insert, "heed", heed_version());
  for (int k = 0; status == HEED_OK && k < SURVEY_TEXTS + SURVEY_NUMBERS; k++) {
    snprintf(number, sizeof number, "%lld",
             k < SURVEY_TEXTS ? 0 : (long long)survey_identity_number(identity, k));
    status = write_value(store, insert, survey_identity_key(k),
                         k < SURVEY_TEXTS ? survey_identity_text(identity, k) : number);
  }
  sqlite3_finalize(insert);
  return status;
}

/* The value of a key, malloc'ed. */
static heed_status read_value(const survey_store *store, const char *key, char **value) {
  sqlite3_stmt *select = NULL;
  *value = NULL;
  CLI_TRY(survey_sql_prepare(store, "SELECT value FROM survey WHERE key = ?", &select));
  sqlite3_bind_text(select, 1, key, -1, SQLITE_STATIC);
  if (sqlite3_step(select) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(select, 0);
    *value = text ? strdup(text) : NULL;
  }
  sqlite3_finalize(select);
  return *value ? HEED_OK
                : heed_fail(&store->cli->error, HEED_INVALID_FILE,
                            "%s: not a survey of heed (found no \"%s\")", store->path, key);
}

static heed_status read_number(const survey_store *store, const char *key, int64_t most,
                               int64_t *number) {
  char *text, *end;
  CLI_TRY(read_value(store, key, &text));
  *number = strtoll(text, &end, 10);
  const bool right = *text && !*end && *number >= 0 && *number <= most;
  const heed_status status =
      right ? HEED_OK
            : heed_fail(&store->cli->error, HEED_INVALID_FILE,
                        "%s: not a survey of heed (found %s %.40s, expected 0 to %lld)",
                        store->path, key, text, (long long)most);
  free(text);
  return status;
}

/* As large as any model may be, so that products stay far below 2^63. */
static heed_status read_identity(const survey_store *store, survey_identity *identity) {
  int64_t number[SURVEY_NUMBERS];
  char *hash = NULL;
  char **const texts[] = {&identity->model, &identity->family, &identity->backend,
                          &identity->options, &hash};
  for (int k = 0; k < SURVEY_TEXTS; k++)
    CLI_TRY(read_value(store, survey_identity_key(k), texts[k]));
  snprintf(identity->inputs_hash, sizeof identity->inputs_hash, "%.64s", hash);
  free(hash);
  for (int k = 0; k < SURVEY_NUMBERS; k++)
    CLI_TRY(read_number(store, survey_identity_key(SURVEY_TEXTS + k),
                        k < 2    ? 4096
                        : k < 6  ? 65536
                        : k == 6 ? 1 << 24
                                 : SURVEY_MOST_PICTURES,
                        &number[k]));
  identity->shape = (survey_shape){
      (uint32_t)number[0], (uint32_t)number[1], (uint32_t)number[2], (uint32_t)number[3],
      (uint32_t)number[4], (uint32_t)number[5], (uint32_t)number[6], 0};
  identity->inputs = number[7];
  identity->shards = number[8];
  identity->shard = number[9];
  return identity->shape.rows && identity->shape.columns
             ? HEED_OK
             : heed_fail(&store->cli->error, HEED_INVALID_FILE,
                         "%s: not a survey of heed (found a grid of %u x %u patches)", store->path,
                         identity->shape.rows, identity->shape.columns);
}

/* ---------------------------------------------------------------------------------------- opening
 */

heed_status survey_sql_open(cli_state *cli, const char *path, int flags, survey_store **store) {
  *store = NULL;
  CLI_TRY(heed_late_open_sqlite(&cli->error));
  survey_store *made = calloc(1, sizeof *made);
  *store = made;
  if (!made) return heed_fail_memory(&cli->error, path, sizeof *made);
  made->cli = cli;
  made->path = path;
  if (sqlite3_open_v2(path, &made->db, flags, NULL) != SQLITE_OK)
    return made->db ? survey_sql_fail(made, "cannot open") : heed_fail_memory(&cli->error, path, 1);
  sqlite3_extended_result_codes(made->db, 0);
  sqlite3_busy_timeout(made->db, 2000);
  return HEED_OK;
}

/* Readers of the file wait for no one, and a commit is one sync: a write-ahead log, where the
 * storage takes one. */
static heed_status begin_journal(const survey_store *store, bool quiet) {
  sqlite3_stmt *mode = NULL;
  const bool shared = survey_is_shared_storage(store->path);
  CLI_TRY(survey_sql_prepare(
      store, shared ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL", &mode));
  const bool row = sqlite3_step(mode) == SQLITE_ROW;
  const char *now = row ? (const char *)sqlite3_column_text(mode, 0) : NULL;
  const bool log = now && strcmp(now, "wal") == 0;
  sqlite3_finalize(mode);
  if (!row) return survey_sql_fail(store, "cannot write");
  if (!log && !quiet)
    fprintf(stderr, "heed survey: %s: %s; heed uses a rollback journal\n", CLI_SHOWN(store->path),
            shared ? "a write-ahead log is not safe on storage that machines share"
                   : "its file system takes no write-ahead log");
  return execute(store,
                 log ? "PRAGMA synchronous = NORMAL"
                     : "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL",
                 "cannot write");
}

static heed_status prepare_all(survey_store *store) {
  CLI_TRY(survey_sql_prepare(store, "INSERT INTO pictures VALUES(?, ?, ?, ?, ?, ?, ?, NULL)",
                             &store->picture));
  CLI_TRY(survey_sql_prepare(store, "INSERT INTO pictures(id, path, error) VALUES(?, ?, ?)",
                             &store->failure));
  CLI_TRY(survey_sql_prepare(store, "INSERT INTO heads VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             &store->head));
  CLI_TRY(survey_sql_prepare(store, "INSERT INTO embeddings VALUES(?, ?)", &store->embedding));
  CLI_TRY(survey_sql_prepare(store, "INSERT OR REPLACE INTO sums VALUES(?, ?, ?, ?, ?, ?)",
                             &store->sums));
  CLI_TRY(survey_sql_prepare(store,
                             "INSERT OR REPLACE INTO moments VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             &store->moments));
  return survey_sql_prepare(store, "SELECT 1 FROM pictures WHERE id = ?", &store->has);
}

heed_status survey_sql_begin(survey_store *store) {
  if (store->open) return HEED_OK;
  CLI_TRY(execute(store, "BEGIN IMMEDIATE", "cannot write"));
  store->open = true;
  return HEED_OK;
}

static heed_status create(survey_store *store, const survey_identity *identity, bool quiet) {
  char version[64];
  survey_sums none = {0};
  store->shape = identity->shape;
  CLI_TRY(begin_journal(store, quiet));
  CLI_TRY(survey_sql_begin(store));
  CLI_TRY(execute(store, schema, "cannot write"));
  snprintf(version, sizeof version, "PRAGMA user_version = %d", SURVEY_SCHEMA);
  CLI_TRY(execute(store, version, "cannot write"));
  CLI_TRY(write_identity(store, identity));
  CLI_TRY(prepare_all(store));
  heed_status status = survey_sums_create(&identity->shape, &none, &store->cli->error);
  if (status == HEED_OK) status = survey_store_commit(store, &none);
  survey_sums_free(&none);
  return status;
}

heed_status survey_store_create(cli_state *cli, const char *path, const survey_identity *identity,
                                bool quiet, survey_store **store) {
  *store = NULL;
  if (heed_os_is_there(path))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "%s: there is a file (expected a new one; --resume goes on with a survey)",
                     path);
  CLI_TRY(survey_sql_open(cli, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, store));
  const heed_status status = create(*store, identity, quiet);
  if (status == HEED_OK) return HEED_OK;
  survey_store_close(*store); /* an empty survey is nobody's */
  *store = NULL;
  heed_os_remove(path);
  return status;
}

static heed_status check_version(const survey_store *store) {
  sqlite3_stmt *select = NULL;
  CLI_TRY(survey_sql_prepare(store, "PRAGMA user_version", &select));
  const bool row = sqlite3_step(select) == SQLITE_ROW;
  const int version = row ? sqlite3_column_int(select, 0) : 0;
  sqlite3_finalize(select);
  if (!row) return survey_sql_fail(store, "not a survey of heed");
  if (version == SURVEY_SCHEMA) return HEED_OK;
  return heed_fail(&store->cli->error, HEED_INVALID_FILE,
                   version > 0 && version < SURVEY_SCHEMA
                       ? "%s: a survey of an older heed (found version %d, expected %d; another -o "
                         "makes it again)"
                       : "%s: not a survey of heed (found version %d, expected %d)",
                   store->path, version, SURVEY_SCHEMA);
}

static heed_status read_all(survey_store *store, survey_identity *identity, survey_sums *sums) {
  CLI_TRY(check_version(store));
  CLI_TRY(read_identity(store, identity));
  CLI_TRY(survey_sql_read_map_names(store, &identity->shape));
  store->shape = identity->shape;
  CLI_TRY(survey_sums_create(&identity->shape, sums, &store->cli->error));
  CLI_TRY(survey_sql_read_sums(store, sums));
  return survey_sql_prepare(store, "SELECT 1 FROM pictures WHERE id = ?", &store->has);
}

heed_status survey_store_open(cli_state *cli, const char *path, survey_identity *identity,
                              survey_sums *sums, survey_store **store) {
  *identity = (survey_identity){0};
  *sums = (survey_sums){0};
  heed_status status = survey_sql_open(cli, path, SQLITE_OPEN_READONLY, store);
  if (status == HEED_OK) status = read_all(*store, identity, sums);
  return status;
}

static heed_status check_same(const survey_store *store, const survey_identity *found,
                              const survey_identity *expected) {
  const char *other = survey_identity_difference(found, expected, true);
  return other ? heed_fail(&store->cli->error, HEED_INVALID_ARGUMENT,
                           "%s: another survey (found other %s; --resume goes on with the same "
                           "command)",
                           store->path, other)
               : HEED_OK;
}

/* A file that is not there yet, or of a survey that ended before its first commit. */
static heed_status is_empty(const survey_store *store, bool *empty) {
  sqlite3_stmt *select = NULL;
  CLI_TRY(survey_sql_prepare(store, "SELECT count(*) FROM sqlite_master", &select));
  const bool row = sqlite3_step(select) == SQLITE_ROW;
  *empty = row && sqlite3_column_int(select, 0) == 0;
  sqlite3_finalize(select);
  return row ? HEED_OK : survey_sql_fail(store, "not a survey of heed");
}

heed_status survey_store_resume(cli_state *cli, const char *path, const survey_identity *identity,
                                bool quiet, survey_sums *sums, survey_store **store) {
  survey_identity found = {0};
  bool empty;
  *sums = (survey_sums){0};
  CLI_TRY(survey_sql_open(cli, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, store));
  CLI_TRY(is_empty(*store, &empty));
  if (empty) {
    CLI_TRY(survey_sums_create(&identity->shape, sums, &cli->error));
    return create(*store, identity, quiet);
  }
  heed_status status = read_all(*store, &found, sums);
  if (status == HEED_OK) status = check_same(*store, identity, &found);
  survey_identity_free(&found);
  CLI_TRY(status);
  sqlite3_finalize((*store)->has);
  (*store)->has = NULL;
  CLI_TRY(begin_journal(*store, quiet));
  return prepare_all(*store);
}

/* ------------------------------------------------------------------------------------------- rows
 */

bool survey_store_has(const survey_store *store, int64_t picture) {
  sqlite3_bind_int64(store->has, 1, picture);
  const bool has = sqlite3_step(store->has) == SQLITE_ROW;
  sqlite3_reset(store->has);
  return has;
}

void survey_store_count(const survey_store *store, int64_t *read, int64_t *failed) {
  sqlite3_stmt *select = NULL;
  *read = *failed = 0;
  if (survey_sql_prepare(store, "SELECT count(*) - count(error), count(error) FROM pictures",
                         &select) == HEED_OK &&
      sqlite3_step(select) == SQLITE_ROW) {
    *read = sqlite3_column_int64(select, 0);
    *failed = sqlite3_column_int64(select, 1);
  }
  sqlite3_finalize(select);
}

static heed_status add_heads(const survey_store *store, int64_t picture,
                             const survey_numbers *numbers) {
  sqlite3_stmt *put = store->head;
  for (size_t h = 0; h < survey_heads(&store->shape); h++) {
    sqlite3_bind_int64(put, 1, picture);
    sqlite3_bind_int64(put, 2, (int64_t)(h / store->shape.heads));
    sqlite3_bind_int64(put, 3, (int64_t)(h % store->shape.heads));
    for (int s = 0; s < SURVEY_STATISTICS; s++)
      sqlite3_bind_double(put, 4 + s, numbers->statistics[h * SURVEY_STATISTICS + (size_t)s]);
    if (numbers->twins)
      sqlite3_bind_double(put, 4 + SURVEY_STATISTICS, numbers->twin_weights[h]);
    else
      sqlite3_bind_null(put, 4 + SURVEY_STATISTICS);
    CLI_TRY(survey_sql_finish(store, put));
  }
  return HEED_OK;
}

heed_status survey_store_add(survey_store *store, const survey_picture *picture,
                             const survey_numbers *numbers, bool heads) {
  sqlite3_stmt *put = store->picture;
  CLI_TRY(survey_sql_begin(store));
  sqlite3_bind_int64(put, 1, picture->id);
  sqlite3_bind_text(put, 2, picture->path, -1, SQLITE_STATIC);
  if (picture->label)
    sqlite3_bind_text(put, 3, picture->label, -1, SQLITE_STATIC);
  else
    sqlite3_bind_null(put, 3);
  sqlite3_bind_int64(put, 4, picture->width);
  sqlite3_bind_int64(put, 5, picture->height);
  if (picture->top >= 0)
    sqlite3_bind_int64(put, 6, picture->top);
  else
    sqlite3_bind_null(put, 6);
  sqlite3_bind_int64(put, 7, numbers->mapped);
  CLI_TRY(survey_sql_finish(store, put));
  CLI_TRY(survey_sql_add_embedding(store, picture->id, numbers->embedding));
  return heads ? add_heads(store, picture->id, numbers) : HEED_OK;
}

heed_status survey_store_add_failure(survey_store *store, int64_t id, const char *path,
                                     const char *sentence) {
  CLI_TRY(survey_sql_begin(store));
  sqlite3_bind_int64(store->failure, 1, id);
  sqlite3_bind_text(store->failure, 2, path, -1, SQLITE_STATIC);
  sqlite3_bind_text(store->failure, 3, sentence, -1, SQLITE_STATIC);
  return survey_sql_finish(store, store->failure);
}

heed_status survey_store_commit(survey_store *store, const survey_sums *sums) {
  if (!store->open) return HEED_OK;
  CLI_TRY(survey_sql_write_sums(store, sums));
  CLI_TRY(execute(store, "COMMIT", "cannot write"));
  store->open = false;
  return HEED_OK;
}

heed_status survey_store_put(survey_store *store, const survey_sums *sums) {
  CLI_TRY(survey_sql_begin(store));
  return survey_store_commit(store, sums);
}

heed_status survey_sql_attach(const survey_store *store, const char *path) {
  sqlite3_stmt *attach = NULL;
  CLI_TRY(survey_sql_prepare(store, "ATTACH ? AS part", &attach));
  sqlite3_bind_text(attach, 1, path, -1, SQLITE_STATIC);
  const heed_status status = survey_sql_finish(store, attach);
  sqlite3_finalize(attach);
  return status;
}

heed_status survey_store_merge(survey_store *store, const char *path) {
  if (store->open) CLI_TRY(execute(store, "COMMIT", "cannot write"));
  store->open = false;
  CLI_TRY(survey_sql_attach(store, path));
  CLI_TRY(survey_sql_begin(store));
  heed_status status = execute(store, "INSERT INTO main.pictures SELECT * FROM part.pictures",
                               "holds a picture of a part already");
  if (status == HEED_OK)
    status = execute(store,
                     "INSERT INTO main.heads SELECT * FROM part.heads;"
                     "INSERT INTO main.embeddings SELECT * FROM part.embeddings;"
                     "INSERT OR IGNORE INTO main.classes SELECT * FROM part.classes",
                     "cannot write");
  if (status == HEED_OK) {
    status = execute(store, "COMMIT", "cannot write");
    store->open = false;
  }
  if (status == HEED_OK) status = execute(store, "DETACH part", "cannot write");
  return status;
}

void survey_store_close(survey_store *store) {
  if (!store) return;
  sqlite3_stmt *const all[] = {store->picture, store->failure,   store->head, store->sums,
                               store->moments, store->embedding, store->has};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
  if (store->db) {
    const bool writes = sqlite3_db_readonly(store->db, "main") == 0;
    (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    if (writes) (void)sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_close(store->db);
  }
  free(store);
}
