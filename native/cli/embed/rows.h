/* The rows of heed embed on their way into a file: a table of arrays, or lines of text. */
#ifndef HEED_CLI_EMBED_ROWS_H
#define HEED_CLI_EMBED_ROWS_H

#include "session/features.h"
#include "terminal/json_out.h"

typedef enum embed_format { EMBED_TABLE, EMBED_JSON, EMBED_LINES, EMBED_CSV } embed_format;

/* Set by the caller: cli, path, format, labels, model, family; `to` of the formats of text. */
typedef struct embed_rows {
  cli_state *cli;
  const char *path;
  embed_format format;
  bool labels; /* whether the rows have classes */
  const char *model, *family;
  FILE *to;
  cli_feature *columns; /* as they were when the first row came */
  uint32_t column_count, count;
  heed_table *table;
  struct embed_failure { /* before the first row, which begins the document */
    const char *picture;
    char *sentence;
  } * early;
  uint32_t early_count;
  json_out json;
} embed_rows;

/* By the path's ending: .jsonl, which stdout gets too; .json, .csv, else a table. */
embed_format embed_format_of(const char *path);
/* Once, before the first row. Statuses: those of heed_table_create. */
heed_status embed_rows_begin(embed_rows *rows, const cli_features *features);
/* What a column is called, and what it is made of. */
const char *embed_column_name(const cli_feature *column);
const char *embed_column_source(const cli_feature *column);
/* The floats of each column of a picture; its class or NULL. Statuses: IO, OUT_OF_MEMORY. */
heed_status embed_rows_add(embed_rows *rows, const char *picture, const char *label,
                           const float *const *values);
/* A picture without a row; only JSON says it. `picture` must stay. Statuses: OUT_OF_MEMORY. */
heed_status embed_rows_fail(embed_rows *rows, const char *picture, const char *sentence);
/* Ends the text, or writes the table as heed_file_writer does. */
void embed_rows_end(embed_rows *rows);
heed_status embed_rows_put(void *rows, FILE *to, heed_error *error);
void embed_rows_free(embed_rows *rows);

#endif
