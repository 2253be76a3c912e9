/* JSON out: a writer that keeps track of commas. Floats with 9 digits, so that they read back as
 * they were; NaN and Inf as null. */
#ifndef HEED_CLI_TERMINAL_JSON_OUT_H
#define HEED_CLI_TERMINAL_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_out {
  FILE *file;
  bool comma; /* a value stands before this place */
  bool line;  /* everything on one line */
} json_out;

/* The version of all documents that docs/json.md describes: a key that changes its meaning, or
 * goes, makes the next one. */
#define JSON_SCHEMA 1
/* The '{' of a document, with the keys that all have: "schema" and "heed". */
void json_begin(json_out *json);
/* '{' or '['; key NULL inside an array or at the top */
void json_open(json_out *json, const char *key, char bracket);
void json_close(json_out *json, char bracket);
void json_text(json_out *json, const char *key, const char *value);
void json_number(json_out *json, const char *key, double value);
void json_integer(json_out *json, const char *key, int64_t value);
void json_flag(json_out *json, const char *key, bool value);
/* An array of floats on one line. */
void json_floats(json_out *json, const char *key, const float *values, uint64_t count);
/* Lists in lists, as deep as the shape has dimensions: at least one. */
void json_array(json_out *json, const char *key, const uint32_t *shape, uint32_t rank,
                const float *values);

#endif
