/* JSON out. */
#include "json_out.h"

#include <math.h>
#include <string.h>

#include "heed/heed.h"

/* Exact for UTF-8, with controls escaped, so that it may be shown as well. A byte that is none, as
 * names of files may have, becomes U+FFFD.
 */
static void write_string(FILE *file, const char *text) {
  const size_t size = strlen(text);
  fputc('"', file);
  for (size_t at = 0, length; at < size; at += length) {
    uint32_t point;
    bool shown;
    length = heed_text_next(text + at, size - at, &point, &shown);
    if (!shown) {
      fprintf(file, "\\u%04x", (unsigned)point);
      continue;
    }
    if (point == '"' || point == '\\') fputc('\\', file);
    fwrite(text + at, 1, length, file);
  }
  fputc('"', file);
}

static void begin_value(json_out *json, const char *key) {
  if (json->comma) fputs(", ", json->file);
  if (key) {
    write_string(json->file, key);
    fputs(": ", json->file);
  }
  json->comma = true;
}

static void write_number(FILE *file, double value) {
  if (isfinite(value))
    fprintf(file, "%.9g", value);
  else
    fputs("null", file);
}

void json_begin(json_out *json) {
  json_open(json, NULL, '{');
  json_integer(json, "schema", JSON_SCHEMA);
  json_text(json, "heed", heed_version());
}

void json_open(json_out *json, const char *key, char bracket) {
  begin_value(json, key);
  fputc(bracket, json->file);
  json->comma = false;
}

void json_close(json_out *json, char bracket) {
  fputc(bracket, json->file);
  json->comma = true;
}

void json_text(json_out *json, const char *key, const char *value) {
  begin_value(json, key);
  write_string(json->file, value);
}

void json_number(json_out *json, const char *key, double value) {
  begin_value(json, key);
  write_number(json->file, value);
}

void json_integer(json_out *json, const char *key, int64_t value) {
  begin_value(json, key);
  fprintf(json->file, "%lld", (long long)value);
}

void json_flag(json_out *json, const char *key, bool value) {
  begin_value(json, key);
  fputs(value ? "true" : "false", json->file);
}

void json_floats(json_out *json, const char *key, const float *values, uint64_t count) {
  begin_value(json, key);
  fputc('[', json->file);
  for (uint64_t i = 0; i < count; i++) {
    if (i) fputc(',', json->file);
    write_number(json->file, (double)values[i]);
  }
  fputc(']', json->file);
}

/* Goes on behind what was written. */
static void write_array(json_out *json, const char *key, const uint32_t *shape, uint32_t rank,
                        const float **values) {
  if (rank <= 1) {
    json_floats(json, key, *values, shape[0]);
    *values += shape[0];
    return;
  }
  json_open(json, key, '[');
  for (uint32_t i = 0; i < shape[0]; i++) write_array(json, NULL, shape + 1, rank - 1, values);
  json_close(json, ']');
}

void json_array(json_out *json, const char *key, const uint32_t *shape, uint32_t rank,
                const float *values) {
  write_array(json, key, shape, rank, &values);
}
