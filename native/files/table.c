/* A table that grows row by row on the disk: rows lie in a spool beside the file to be, each with
 * all its columns, and are sorted into columns when the file is written. Memory has the texts
 * alone. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "files/os.h"
#include "files/output.h"
#include "files/tensor_write.h"

/* A column of numbers, as an item of a tensor file. */
typedef struct column {
  struct heed_table *table;
  char *name;
  heed_shape shape; /* of a row */
  size_t bytes;     /* of a row */
  size_t offset;    /* in a row of the spool */
} column;

typedef struct text_column {
  char *name;
  char **texts; /* [rows] */
  size_t capacity;
} text_column;

struct heed_table {
  heed_context *context;
  heed_output spool;
  column *columns;
  text_column *texts;
  uint32_t column_count, text_count, rows;
  size_t stride; /* bytes of a row */
};

static heed_status add_columns(heed_table *table, const heed_table_desc *desc, heed_error *error) {
  table->columns =
      heed_alloc(table->context, (size_t)desc->column_count + 1, sizeof *table->columns);
  table->texts = heed_alloc(table->context, (size_t)desc->text_count + 1, sizeof *table->texts);
  if (!table->columns || !table->texts) return heed_fail_memory(error, "table", desc->column_count);
  for (uint32_t i = 0; i < desc->column_count; i++) {
    column *to = &table->columns[i];
    const heed_table_column *from = &desc->columns[i];
    *to = (column){.table = table, .shape = from->shape, .offset = table->stride};
    table->column_count = i + 1;
    if (from->shape.rank >= HEED_MAX_RANK ||
        !heed_shape_bytes(&from->shape, HEED_F32, &to->bytes) ||
        to->bytes > SIZE_MAX / 2 - table->stride)
      return heed_fail(error, HEED_INVALID_ARGUMENT, "table: column %.100s is too large",
                       from->name);
    table->stride += to->bytes;
    to->name = heed_copy_string(table->context, from->name, strlen(from->name));
    if (!to->name) return heed_fail_memory(error, "table", strlen(from->name) + 1);
  }
  for (uint32_t i = 0; i < desc->text_count; i++) {
    table->texts[i].name = heed_copy_string(table->context, desc->texts[i], strlen(desc->texts[i]));
    table->text_count = i + 1;
    if (!table->texts[i].name) return heed_fail_memory(error, "table", strlen(desc->texts[i]) + 1);
  }
  return HEED_OK;
}

heed_status heed_table_create(heed_context *context, const heed_table_desc *given,
                              heed_table **table, heed_error *error) {
  heed_table_desc full;
  const heed_table_desc *desc = &full;
  *table = NULL;
  HEED_TRY(heed_desc_read(&full, sizeof full, given, "table", error));
  heed_table *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "table", sizeof *made);
  *made = (heed_table){.context = context};
  heed_status status = add_columns(made, desc, error);
  if (status == HEED_OK) status = heed_output_spool(&made->spool, desc->path, error);
  if (status == HEED_OK)
    *table = made;
  else
    heed_table_destroy(made);
  return status;
}

static heed_status keep_texts(heed_table *table, const char *const *texts, heed_error *error) {
  for (uint32_t i = 0; i < table->text_count; i++) {
    text_column *to = &table->texts[i];
    if (!heed_grow(table->context, &to->texts, &to->capacity, (size_t)table->rows + 1,
                   sizeof *to->texts))
      return heed_fail_memory(error, "table", 2 * to->capacity * sizeof *to->texts);
    heed_free(table->context, to->texts[table->rows]); /* of a row that failed */
    to->texts[table->rows] = heed_copy_string(table->context, texts[i], strlen(texts[i]));
    if (!to->texts[table->rows]) return heed_fail_memory(error, "table", strlen(texts[i]) + 1);
  }
  return HEED_OK;
}

heed_status heed_table_add(heed_table *table, const float *const *values, const char *const *texts,
                           heed_error *error) {
  errno = 0;
  for (uint32_t i = 0; i < table->column_count; i++)
    if (fwrite(values[i], 1, table->columns[i].bytes, table->spool.file) != table->columns[i].bytes)
      return heed_fail(error, heed_status_of_errno(errno), "%.255s: cannot write the table (%s)",
                       table->spool.shown, strerror(errno));
  HEED_TRY(keep_texts(table, texts, error));
  table->rows++;
  return HEED_OK;
}

uint32_t heed_table_rows(const heed_table *table) { return table->rows; }

static heed_status fail_read(const column *from, heed_error *error) {
  return heed_fail(error, HEED_IO, "%.100s: cannot read the table again", from->name);
}

/* One column of all rows, in pieces: of a single column as they come. */
static heed_status produce(void *user, heed_safetensors_sink sink, void *sink_user,
                           heed_error *error) {
  enum { PIECE = 1 << 16 };
  const column *from = user;
  const heed_table *table = from->table;
  FILE *file = table->spool.file;
  char *piece = heed_alloc(table->context, PIECE, 1);
  if (!piece) return heed_fail_memory(error, from->name, PIECE);
  heed_status status = HEED_OK;
  const bool dense = from->bytes == table->stride;
  const uint32_t rows = dense ? 1 : table->rows;
  for (uint32_t r = 0; r < rows && status == HEED_OK; r++) {
    uint64_t left = dense ? (uint64_t)from->bytes * table->rows : from->bytes;
    if (!heed_os_seek(file, (uint64_t)r * table->stride + from->offset))
      status = fail_read(from, error);
    while (left && status == HEED_OK) {
      const size_t here = left < PIECE ? (size_t)left : PIECE;
      status = fread(piece, 1, here, file) == here ? sink(sink_user, piece, here, error)
                                                   : fail_read(from, error);
      left -= here;
    }
  }
  heed_free(table->context, piece);
  return status;
}

heed_status heed_table_put(heed_table *table, FILE *to, const char *name,
                           const heed_metadata_entry *metadata, uint32_t metadata_count,
                           heed_error *error) {
  const uint32_t count = table->column_count, texts = table->text_count;
  heed_safetensors_item *items = heed_alloc(table->context, (size_t)count + 1, sizeof *items);
  heed_text_column *lists = heed_alloc(table->context, (size_t)texts + 1, sizeof *lists);
  heed_status status =
      items && lists ? HEED_OK : heed_fail_memory(error, name, ((size_t)count + 1) * sizeof *items);
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) {
    column *from = &table->columns[i];
    items[i] = (heed_safetensors_item){.name = from->name,
                                       .dtype = HEED_F32,
                                       .shape = {.rank = from->shape.rank + 1},
                                       .produce = produce,
                                       .user = from};
    items[i].shape.dim[0] = table->rows;
    for (uint32_t d = 0; d < from->shape.rank; d++) items[i].shape.dim[d + 1] = from->shape.dim[d];
  }
  for (uint32_t i = 0; i < texts && status == HEED_OK; i++)
    lists[i] = (heed_text_column){table->texts[i].name, (const char *const *)table->texts[i].texts,
                                  table->rows};
  const heed_tensor_contents contents = {items, metadata, lists, count, metadata_count, texts};
  if (status == HEED_OK)
    status = heed_tensor_contents_write(table->context, &contents, to, name, error);
  heed_free(table->context, items);
  heed_free(table->context, lists);
  return status;
}

void heed_table_destroy(heed_table *table) {
  if (!table) return;
  heed_context *context = table->context;
  for (uint32_t i = 0; i < table->column_count; i++) heed_free(context, table->columns[i].name);
  for (uint32_t i = 0; i < table->text_count; i++) {
    for (size_t r = 0; r < table->texts[i].capacity; r++)
      heed_free(context, table->texts[i].texts[r]);
    heed_free(context, table->texts[i].texts);
    heed_free(context, table->texts[i].name);
  }
  heed_output_abort(&table->spool);
  heed_free(context, table->texts);
  heed_free(context, table->columns);
  heed_free(context, table);
}
