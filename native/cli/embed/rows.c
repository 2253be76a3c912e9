/* heed embed's files out. See rows.h. */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "heed/native.h"
#include "terminal/standard_out.h"

embed_format embed_format_of(const char *path) {
  const char *end = strrchr(path, '.');
  if (cli_is_stdout(path) || (end && strcasecmp(end, ".jsonl") == 0)) return EMBED_LINES;
  if (end && strcasecmp(end, ".json") == 0) return EMBED_JSON;
  return end && strcasecmp(end, ".csv") == 0 ? EMBED_CSV : EMBED_TABLE;
}

const char *embed_column_name(const cli_feature *column) {
  return strcmp(column->name, "embedding") == 0 ? "embeddings" : column->name;
}

const char *embed_column_source(const cli_feature *column) {
  return column->kind == CLI_FEATURE_CLS    ? "cls"
         : column->kind == CLI_FEATURE_MEAN ? "mean"
                                            : column->source;
}

/* What the default column is made of, or NULL. */
static const char *embedding_of(const embed_rows *rows) {
  for (uint32_t i = 0; i < rows->column_count; i++)
    if (strcmp(rows->columns[i].name, "embedding") == 0) return rows->columns[i].source;
  return NULL;
}

/* ---------------------------------------------------------------------------------------- begin */

static void add_failure(embed_rows *rows, const char *picture, const char *sentence);

static heed_status begin_table(embed_rows *rows) {
  heed_table_column *columns = calloc(rows->column_count, sizeof *columns);
  if (!columns) return heed_fail_memory(&rows->cli->error, "table", sizeof *columns);
  for (uint32_t i = 0; i < rows->column_count; i++)
    columns[i] = (heed_table_column){embed_column_name(&rows->columns[i]), rows->columns[i].shape};
  static const char *const texts[] = {"names", "labels"};
  const heed_table_desc desc = {sizeof desc,        rows->path, columns,
                                rows->column_count, texts,      rows->labels ? 2 : 1};
  const heed_status status =
      heed_table_create(rows->cli->context, &desc, &rows->table, &rows->cli->error);
  free(columns);
  return status;
}

static void begin_json(embed_rows *rows) {
  json_begin(&rows->json);
  json_text(&rows->json, "model", rows->model);
  json_text(&rows->json, "family", rows->family);
  const char *embedding = embedding_of(rows);
  if (embedding) json_text(&rows->json, "embedding", embedding);
  json_open(&rows->json, "results", '[');
}

static void begin_csv(const embed_rows *rows) {
  fprintf(rows->to, rows->labels ? "name,label" : "name");
  for (uint32_t i = 0; i < rows->column_count; i++) {
    const uint64_t floats = heed_shape_count(&rows->columns[i].shape);
    for (uint64_t k = 0; k < floats; k++)
      fprintf(rows->to, ",%s_%llu", embed_column_name(&rows->columns[i]), (unsigned long long)k);
  }
  fputs("\r\n", rows->to);
}

heed_status embed_rows_begin(embed_rows *rows, const cli_features *features) {
  rows->columns = calloc(features->count, sizeof *rows->columns);
  if (!rows->columns) return heed_fail_memory(&rows->cli->error, "table", sizeof *rows->columns);
  memcpy(rows->columns, features->feature, features->count * sizeof *rows->columns);
  rows->column_count = features->count;
  for (uint32_t i = 0; i < rows->column_count; i++) /* the graph's own text may go */
    rows->columns[i].source = strcmp(rows->columns[i].name, "embedding") == 0
                                  ? cli_embedding_name(embed_column_source(&rows->columns[i]))
                                  : rows->columns[i].name;
  rows->json = (json_out){rows->to, false, rows->format == EMBED_LINES};
  if (rows->format == EMBED_TABLE) return begin_table(rows);
  if (rows->format == EMBED_JSON) begin_json(rows);
  if (rows->format == EMBED_CSV) begin_csv(rows);
  for (uint32_t i = 0; i < rows->early_count; i++)
    add_failure(rows, rows->early[i].picture, rows->early[i].sentence);
  return HEED_OK;
}

/* ----------------------------------------------------------------------------------------- rows */

static void open_row(embed_rows *rows, const char *picture) {
  json_open(&rows->json, NULL, '{');
  if (rows->format == EMBED_LINES) json_integer(&rows->json, "schema", JSON_SCHEMA);
  json_open(&rows->json, "image", '{');
  json_text(&rows->json, "path", picture);
  json_close(&rows->json, '}');
}

static void close_row(embed_rows *rows) {
  json_close(&rows->json, '}');
  fputc('\n', rows->to);
  if (rows->format == EMBED_LINES) rows->json.comma = false;
}

static void add_json(embed_rows *rows, const char *picture, const char *label,
                     const float *const *values) {
  open_row(rows, picture);
  if (rows->labels) json_text(&rows->json, "label", label);
  for (uint32_t i = 0; i < rows->column_count; i++)
    json_array(&rows->json, embed_column_name(&rows->columns[i]), rows->columns[i].shape.dim,
               rows->columns[i].shape.rank, values[i]);
  close_row(rows);
}

/* Quoted where it must be (RFC 4180). */
static void csv_text(FILE *to, const char *text) {
  if (!text[strcspn(text, ",\"\r\n")]) {
    fputs(text, to);
    return;
  }
  fputc('"', to);
  for (; *text; text++) fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
  fputc('"', to);
}

static void add_csv(const embed_rows *rows, const char *picture, const char *label,
                    const float *const *values) {
  csv_text(rows->to, picture);
  if (rows->labels) {
    fputc(',', rows->to);
    csv_text(rows->to, label);
  }
  for (uint32_t i = 0; i < rows->column_count; i++) {
    const uint64_t floats = heed_shape_count(&rows->columns[i].shape);
    for (uint64_t k = 0; k < floats; k++) fprintf(rows->to, ",%.9g", (double)values[i][k]);
  }
  fputs("\r\n", rows->to);
}

heed_status embed_rows_add(embed_rows *rows, const char *picture, const char *label,
                           const float *const *values) {
  rows->count++;
  if (!label) label = "";
  if (rows->format == EMBED_TABLE)
    return heed_table_add(rows->table, values, (const char *const[]){picture, label},
                          &rows->cli->error);
  errno = 0;
  if (rows->format == EMBED_CSV)
    add_csv(rows, picture, label, values);
  else
    add_json(rows, picture, label, values);
  /* a full disk ends the run here and not after hours; stdout is asked at its end */
  return ferror(rows->to) && !cli_is_stdout(rows->path)
             ? heed_fail(&rows->cli->error, HEED_IO, "%s: writing failed (%s)", rows->path,
                         strerror(errno))
             : HEED_OK;
}

static void add_failure(embed_rows *rows, const char *picture, const char *sentence) {
  open_row(rows, picture);
  json_text(&rows->json, "error", sentence);
  close_row(rows);
}

heed_status embed_rows_fail(embed_rows *rows, const char *picture, const char *sentence) {
  if (rows->format != EMBED_JSON && rows->format != EMBED_LINES) return HEED_OK;
  if (rows->columns) {
    add_failure(rows, picture, sentence);
    return HEED_OK;
  }
  struct embed_failure *grown = realloc(rows->early, (rows->early_count + 1u) * sizeof *grown);
  if (grown) rows->early = grown;
  char *copy = grown ? malloc(strlen(sentence) + 1) : NULL;
  if (!copy) return heed_fail_memory(&rows->cli->error, picture, strlen(sentence) + 1);
  rows->early[rows->early_count++] = (struct embed_failure){picture, strcpy(copy, sentence)};
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ end */

void embed_rows_end(embed_rows *rows) {
  if (rows->format != EMBED_JSON || !rows->columns) return;
  json_close(&rows->json, ']');
  json_close(&rows->json, '}');
  fputc('\n', rows->to);
}

heed_status embed_rows_put(void *user, FILE *to, heed_error *error) {
  embed_rows *rows = user;
  const char *embedding = embedding_of(rows);
  const heed_metadata_entry metadata[] = {{"heed", heed_version()},
                                          {"model", rows->model},
                                          {"family", rows->family},
                                          {"embedding", embedding}};
  return heed_table_put(rows->table, to, rows->path, metadata, embedding ? 4 : 3, error);
}

void embed_rows_free(embed_rows *rows) {
  heed_table_destroy(rows->table);
  for (uint32_t i = 0; i < rows->early_count; i++) free(rows->early[i].sentence);
  free(rows->early);
  free(rows->columns);
}
