/* What the files of the store share. The only ones that know SQLite. */
#ifndef HEED_CLI_SURVEY_STORE_SQLITE_H
#define HEED_CLI_SURVEY_STORE_SQLITE_H

#include "late/sqlite.h"

#include "store.h"

struct survey_store {
  cli_state *cli;
  const char *path;
  sqlite3 *db;
  sqlite3_stmt *picture, *failure, *head, *sums, *moments, *embedding, *has;
  survey_shape shape;
  bool open; /* a transaction */
};

/* Opens a file with flags of sqlite3_open_v2. Close the store also when it fails. */
heed_status survey_sql_open(cli_state *cli, const char *path, int flags, survey_store **store);
/* A second file, as "part". */
heed_status survey_sql_attach(const survey_store *store, const char *path);
/* The sentence of SQLite's last error. */
heed_status survey_sql_fail(const survey_store *store, const char *doing);
heed_status survey_sql_prepare(const survey_store *store, const char *sql,
                               sqlite3_stmt **statement);
/* What is written from here on is one transaction, to the next commit. */
heed_status survey_sql_begin(survey_store *store);
/* Runs a statement that gives no rows, and makes it ready for its next use. */
heed_status survey_sql_finish(const survey_store *store, sqlite3_stmt *statement);
/* "not a survey of heed (found other sums of ...)". */
heed_status survey_sql_fail_sums(const survey_store *store, const char *what);
/* 2^-bits. */
double survey_sql_unit(int bits);
heed_status survey_sql_write_sums(const survey_store *store, const survey_sums *sums);
/* Into sums of the right shape. */
heed_status survey_sql_read_sums(const survey_store *store, survey_sums *sums);
/* Those of layers, in tables of their own. Statuses: as those. */
heed_status survey_sql_write_states(const survey_store *store, const survey_sums *sums);
heed_status survey_sql_read_states(const survey_store *store, survey_sums *sums);
/* Those of maps, and which there are. */
heed_status survey_sql_write_maps(const survey_store *store, const survey_sums *sums);
heed_status survey_sql_read_map_names(const survey_store *store, survey_shape *shape);
heed_status survey_sql_read_maps(const survey_store *store, survey_sums *sums);
/* Nothing where the survey keeps none. */
heed_status survey_sql_add_embedding(const survey_store *store, int64_t picture,
                                     const float *embedding);

#endif
