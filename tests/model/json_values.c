/* Texts from standard input, each after its length in four bytes: a line each, what the JSON reader
 * makes of it, or r where it refuses it. For json_beside_python.py, which has the form of a line.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "support/test.h"

static void print_text(const char *text, size_t length) {
  putchar('s');
  for (size_t i = 0; i < length; i++) printf("%02x", (unsigned)(unsigned char)text[i]);
  putchar(' ');
}

/* At most HEED_JSON_MAX_DEPTH deep. */
static void print_value(const heed_json *json, heed_json_value value) {
  const heed_json_kind kind = heed_json_kind_of(json, value);
  const char *text;
  size_t length;
  double number;
  switch (kind) {
    case HEED_JSON_NULL: printf("n "); return;
    case HEED_JSON_TRUE: printf("t "); return;
    case HEED_JSON_FALSE: printf("f "); return;
    case HEED_JSON_NUMBER:
      if (heed_json_double(json, value, &number))
        printf("%.17g ", number);
      else
        printf("? ");
      return;
    case HEED_JSON_STRING:
      heed_json_string(json, value, &text, &length);
      print_text(text, length);
      return;
    default: break;
  }
  printf(kind == HEED_JSON_ARRAY ? "[ " : "{ ");
  for (heed_json_value v = heed_json_first(json, value); v; v = heed_json_next(json, value, v)) {
    if (kind == HEED_JSON_OBJECT) {
      text = heed_json_key(json, v, &length);
      print_text(text, length);
    }
    print_value(json, v);
  }
  printf("] ");
}

int main(void) {
  heed_context *context;
  heed_error error;
  unsigned char length[4];
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  while (fread(length, 1, sizeof length, stdin) == sizeof length) {
    const size_t size = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16;
    unsigned char *bytes = malloc(size ? size : 1); /* its end is watched */
    heed_json *json;
    if (!bytes || length[3] || fread(bytes, 1, size, stdin) != size) return 1;
    const heed_status status = heed_json_parse(context, bytes, size, "case", &json, &error);
    if (status == HEED_OK) {
      print_value(json, heed_json_root(json));
      heed_json_destroy(json);
    } else if (status == HEED_INVALID_FILE) {
      putchar('r');
    } else {
      return 1;
    }
    putchar('\n');
    free(bytes);
  }
  heed_context_destroy(context);
  return 0;
}
