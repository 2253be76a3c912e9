/* A strict JSON reader: RFC 8259, UTF-8 only, unique keys, bounded depth; see json.h.
 *
 * The text is decoded in place: a string's bytes start after its opening quote, and its closing
 * quote (or what decoding freed before it) becomes a NUL. A node of a container tells where its
 * subtree ends, so that the array of nodes is the tree. */
#include "base/json.h"

#include <string.h>

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"

/* Nodes, 32 MiB: a text of commas is refused, but not for memory. */
#define MOST_RESERVED (1u << 21)

typedef struct json_node {
  uint32_t start;  /* byte in the text: of the value, or of a string's first character */
  uint32_t length; /* bytes of a string or number; elements or members of a container */
  uint32_t end;    /* the node after this one and all that it holds */
  uint32_t kind;   /* a heed_json_kind */
} json_node;

struct heed_json {
  const heed_context *context;
  char *text;
  json_node
      *nodes; /* [0] stands for "none"; a member is its key, a string, followed by its value */
  size_t count, capacity;
};

typedef struct parser {
  heed_json *json;
  char *text;
  size_t size, at;
  uint32_t stack[HEED_JSON_MAX_DEPTH]; /* the open containers */
  uint32_t depth;
  const char *where;
  heed_error *error;
  bool python;
} parser;

/* ------------------------------------------------------------------------------------ sentences */

static heed_status fail_at(parser *p, size_t at, const char *what) {
  const unsigned char c = at < p->size ? (unsigned char)p->text[at] : 0;
  if (at >= p->size)
    return heed_fail(p->error, HEED_INVALID_FILE, "%s: %s at byte %zu (found the end of the text)",
                     p->where, what, at);
  if (c < 0x20u || c > 0x7Eu)
    return heed_fail(p->error, HEED_INVALID_FILE, "%s: %s at byte %zu (found byte 0x%02X)",
                     p->where, what, at, c);
  return heed_fail(p->error, HEED_INVALID_FILE, "%s: %s at byte %zu (found '%c')", p->where, what,
                   at, c);
}

/* ---------------------------------------------------------------------------------------- nodes */

static heed_status add_node(parser *p, heed_json_kind kind, size_t start, size_t length) {
  heed_json *json = p->json;
  if (!heed_grow(json->context, &json->nodes, &json->capacity, json->count + 1,
                 sizeof *json->nodes))
    return heed_fail_memory(p->error, p->where, json->count * 2 * sizeof *json->nodes);
  json->nodes[json->count] =
      (json_node){(uint32_t)start, (uint32_t)length, (uint32_t)json->count + 1, (uint32_t)kind};
  json->count++;
  return HEED_OK;
}

/* Room for all values of a valid text: each but the first follows one of these. So a large table
 * is not copied as it grows. */
static heed_status reserve_nodes(parser *p) {
  size_t most = 2;
  for (size_t i = 0; i < p->size; i++)
    most += p->text[i] == ',' || p->text[i] == ':' || p->text[i] == '[' || p->text[i] == '{';
  if (most > MOST_RESERVED) return HEED_OK;
  p->json->nodes = heed_alloc_raw(p->json->context, most, sizeof *p->json->nodes);
  if (!p->json->nodes) return heed_fail_memory(p->error, p->where, most * sizeof *p->json->nodes);
  p->json->capacity = most;
  return HEED_OK;
}

static void count_element(parser *p) {
  if (p->depth) p->json->nodes[p->stack[p->depth - 1]].length++;
}

static void skip_space(parser *p) {
  while (p->at < p->size && (p->text[p->at] == ' ' || p->text[p->at] == '\n' ||
                             p->text[p->at] == '\r' || p->text[p->at] == '\t'))
    p->at++;
}

static bool next_is(const parser *p, char c) { return p->at < p->size && p->text[p->at] == c; }

/* -------------------------------------------------------------------------------------- strings */

/* Four hexadecimal digits at p->at + 2, after a backslash and a u; false when they are not
 * there. */
static bool read_unit(const parser *p, uint32_t *unit) {
  if (p->size - p->at < 6 || p->text[p->at] != '\\' || p->text[p->at + 1] != 'u') return false;
  *unit = 0;
  for (size_t i = 2; i < 6; i++) {
    const char c = p->text[p->at + i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return false;
    *unit = *unit << 4 | (uint32_t)digit;
  }
  return true;
}

static heed_status unicode_escape(parser *p, uint32_t *point) {
  const size_t start = p->at;
  uint32_t low;
  if (!read_unit(p, point)) return fail_at(p, start, "expected four hexadecimal digits after \\u");
  p->at += 6;
  if (*point < 0xD800u || *point > 0xDFFFu) return HEED_OK;
  if (*point > 0xDBFFu || !read_unit(p, &low) || low < 0xDC00u || low > 0xDFFFu)
    return fail_at(p, start, "an unpaired surrogate");
  p->at += 6;
  *point = 0x10000u + ((*point - 0xD800u) << 10) + (low - 0xDC00u);
  return HEED_OK;
}

/* Decodes the escape at p->at to p->text + *to. An escape is never shorter than what it stands
 * for. */
static heed_status decode_escape(parser *p, size_t *to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  const char c = p->size - p->at >= 2 ? p->text[p->at + 1] : '\0';
  if (c == 'u') {
    uint32_t point;
    HEED_TRY(unicode_escape(p, &point));
    *to += heed_utf8_write(p->text + *to, point);
    return HEED_OK;
  }
  const char *at = c ? strchr(from, c) : NULL;
  if (!at) return fail_at(p, p->at + 1, "expected a valid escape");
  p->text[(*to)++] = into[at - from];
  p->at += 2;
  return HEED_OK;
}

static heed_status parse_string(parser *p) {
  const size_t start = ++p->at;
  size_t to = start;
  for (;;) {
    if (p->at >= p->size) return fail_at(p, p->at, "expected the closing quote of a string");
    const unsigned char c = (unsigned char)p->text[p->at];
    if (c == '"') break;
    if (c < 0x20u) return fail_at(p, p->at, "expected no control character in a string");
    if (c == '\\') {
      HEED_TRY(decode_escape(p, &to));
      continue;
    }
    const size_t length = heed_utf8_length(p->text, p->at, p->size);
    if (!length) return fail_at(p, p->at, "expected UTF-8");
    for (size_t i = 0; i < length; i++) p->text[to++] = p->text[p->at++];
  }
  p->text[to] = '\0';
  p->at++;
  return add_node(p, HEED_JSON_STRING, start, to - start);
}

/* -------------------------------------------------------------------------------------- scalars */

static bool skip_digits(parser *p) {
  const size_t start = p->at;
  while (p->at < p->size && p->text[p->at] >= '0' && p->text[p->at] <= '9') p->at++;
  return p->at > start;
}

/* What Python writes for numbers that JSON lacks. */
static bool skip_python(parser *p) {
  static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const size_t length = strlen(words[i]);
    if (p->size - p->at < length || memcmp(p->text + p->at, words[i], length) != 0) continue;
    p->at += length;
    return true;
  }
  return false;
}

static heed_status parse_number(parser *p) {
  const size_t start = p->at;
  if (p->python && skip_python(p)) return add_node(p, HEED_JSON_NUMBER, start, p->at - start);
  if (next_is(p, '-')) p->at++;
  if (next_is(p, '0'))
    p->at++;
  else if (!skip_digits(p))
    return fail_at(p, p->at, p->at > start ? "expected a digit" : "expected a value");
  if (next_is(p, '.')) {
    p->at++;
    if (!skip_digits(p)) return fail_at(p, p->at, "expected a digit after the point");
  }
  if (next_is(p, 'e') || next_is(p, 'E')) {
    p->at++;
    if (next_is(p, '+') || next_is(p, '-')) p->at++;
    if (!skip_digits(p)) return fail_at(p, p->at, "expected a digit of the exponent");
  }
  return add_node(p, HEED_JSON_NUMBER, start, p->at - start);
}

static heed_status parse_word(parser *p, const char *word, heed_json_kind kind) {
  const size_t length = strlen(word), start = p->at;
  if (p->size - start < length || memcmp(p->text + start, word, length) != 0)
    return fail_at(p, start, "expected a value");
  p->at += length;
  return add_node(p, kind, start, length);
}

/* ------------------------------------------------------------------------------ keys are unique */

static int compare_strings(const heed_json *json, const json_node *a, const json_node *b) {
  const uint32_t shorter = a->length < b->length ? a->length : b->length;
  const int order = memcmp(json->text + a->start, json->text + b->start, shorter);
  return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static bool key_less(const void *user, uint32_t a, uint32_t b) {
  const heed_json *json = user;
  const int order = compare_strings(json, &json->nodes[a], &json->nodes[b]);
  return order ? order < 0 : a < b;
}

static heed_status fail_duplicate(parser *p, uint32_t key) {
  const json_node *node = &p->json->nodes[key];
  return heed_fail(p->error, HEED_INVALID_FILE,
                   "%s: duplicate key \"%.*s\" (found again at byte %u)", p->where,
                   HEED_CUT(p->text + node->start), node->start);
}

/* The second occurrence, earliest in the text, of any key; 0 when all differ. keys: the nodes of
 * the keys, sorted here. */
static uint32_t find_duplicate(const heed_json *json, uint32_t *keys, size_t count) {
  uint32_t found = 0;
  heed_sort(keys, count, key_less, json);
  for (size_t i = 1; i < count; i++)
    if (compare_strings(json, &json->nodes[keys[i - 1]], &json->nodes[keys[i]]) == 0 &&
        (!found || keys[i] < found))
      found = keys[i];
  return found;
}

#define FEW_KEYS 32

static heed_status check_keys(parser *p, uint32_t object) {
  const heed_json *json = p->json;
  const size_t count = json->nodes[object].length;
  uint32_t few[FEW_KEYS], *keys = few;
  if (count < 2) return HEED_OK;
  if (count > FEW_KEYS) {
    keys = heed_alloc_raw(json->context, count, sizeof *keys);
    if (!keys) return heed_fail_memory(p->error, p->where, count * sizeof *keys);
  }
  uint32_t key = object + 1;
  for (size_t i = 0; i < count; i++, key = json->nodes[key + 1].end) keys[i] = key;
  const uint32_t duplicate = find_duplicate(json, keys, count);
  if (keys != few) heed_free(json->context, keys);
  return duplicate ? fail_duplicate(p, duplicate) : HEED_OK;
}

/* ----------------------------------------------------------------------------------- containers */

static heed_status parse_key(parser *p) {
  skip_space(p);
  if (!next_is(p, '"')) return fail_at(p, p->at, "expected a key in quotes");
  HEED_TRY(parse_string(p));
  skip_space(p);
  if (!next_is(p, ':')) return fail_at(p, p->at, "expected ':'");
  p->at++;
  return HEED_OK;
}

static heed_status close_container(parser *p) {
  const uint32_t container = p->stack[--p->depth];
  p->at++;
  p->json->nodes[container].end = (uint32_t)p->json->count;
  return p->json->nodes[container].kind == HEED_JSON_OBJECT ? check_keys(p, container) : HEED_OK;
}

/* *complete: the container was empty, so that it is a whole value already. */
static heed_status open_container(parser *p, heed_json_kind kind, bool *complete) {
  if (p->depth == HEED_JSON_MAX_DEPTH)
    return heed_fail(p->error, HEED_INVALID_FILE,
                     "%s: nested too deeply at byte %zu (found more than %d levels)", p->where,
                     p->at, HEED_JSON_MAX_DEPTH);
  HEED_TRY(add_node(p, kind, p->at, 0));
  p->stack[p->depth++] = (uint32_t)p->json->count - 1;
  p->at++;
  skip_space(p);
  *complete = next_is(p, kind == HEED_JSON_OBJECT ? '}' : ']');
  if (*complete) return close_container(p);
  return kind == HEED_JSON_OBJECT ? parse_key(p) : HEED_OK;
}

static heed_status parse_value(parser *p, bool *complete) {
  skip_space(p);
  if (p->at >= p->size) return fail_at(p, p->at, "expected a value");
  count_element(p);
  *complete = true;
  switch (p->text[p->at]) {
    case '{': return open_container(p, HEED_JSON_OBJECT, complete);
    case '[': return open_container(p, HEED_JSON_ARRAY, complete);
    case '"': return parse_string(p);
    case 't': return parse_word(p, "true", HEED_JSON_TRUE);
    case 'f': return parse_word(p, "false", HEED_JSON_FALSE);
    case 'n': return parse_word(p, "null", HEED_JSON_NULL);
    default: return parse_number(p);
  }
}

/* After an element of an open container: the next one follows, or the container is complete. */
static heed_status after_element(parser *p, bool *complete) {
  const bool object = p->json->nodes[p->stack[p->depth - 1]].kind == HEED_JSON_OBJECT;
  skip_space(p);
  *complete = next_is(p, object ? '}' : ']');
  if (*complete) return close_container(p);
  if (!next_is(p, ','))
    return fail_at(p, p->at, object ? "expected ',' or '}'" : "expected ',' or ']'");
  p->at++;
  return object ? parse_key(p) : HEED_OK;
}

static heed_status parse_text(parser *p) {
  if (p->size >= UINT32_MAX)
    return heed_fail(p->error, HEED_UNSUPPORTED, "%s: text too long (found %zu bytes)", p->where,
                     p->size);
  HEED_TRY(reserve_nodes(p));
  HEED_TRY(add_node(p, HEED_JSON_NONE, 0, 0));
  for (;;) {
    bool complete;
    HEED_TRY(parse_value(p, &complete));
    while (complete && p->depth) HEED_TRY(after_element(p, &complete));
    if (complete) break;
  }
  skip_space(p);
  return p->at < p->size ? fail_at(p, p->at, "expected nothing more") : HEED_OK;
}

static heed_status take(const heed_context *context, char *text, size_t size, const char *where,
                        bool python, heed_json **json, heed_error *error) {
  *json = heed_alloc(context, 1, sizeof **json);
  if (!*json) {
    heed_free(context, text);
    return heed_fail_memory(error, where, sizeof **json);
  }
  (*json)->context = context;
  (*json)->text = text;
  parser p = {
      .json = *json, .text = text, .size = size, .where = where, .error = error, .python = python};
  if (python && size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) p.at = 3;
  const heed_status status = parse_text(&p);
  if (status != HEED_OK) {
    heed_json_destroy(*json);
    *json = NULL;
  }
  return status;
}

heed_status heed_json_take(const heed_context *context, char *text, size_t size, const char *where,
                           heed_json **json, heed_error *error) {
  return take(context, text, size, where, false, json, error);
}

heed_status heed_json_take_python(const heed_context *context, char *text, size_t size,
                                  const char *where, heed_json **json, heed_error *error) {
  return take(context, text, size, where, true, json, error);
}

heed_status heed_json_parse(const heed_context *context, const void *text, size_t size,
                            const char *where, heed_json **json, heed_error *error) {
  *json = NULL;
  char *copy = heed_alloc_raw(context, size ? size : 1, 1);
  if (!copy) return heed_fail_memory(error, where, size);
  if (size) memcpy(copy, text, size);
  return heed_json_take(context, copy, size, where, json, error);
}

void heed_json_destroy(heed_json *json) {
  if (!json) return;
  const heed_context *context = json->context;
  heed_free(context, json->nodes);
  heed_free(context, json->text);
  heed_free(context, json);
}

/* --------------------------------------------------------------------------------------- access */

static const json_node *node_of(const heed_json *json, heed_json_value value) {
  return &json->nodes[value < json->count ? value : 0];
}

heed_json_value heed_json_root(const heed_json *json) {
  (void)json;
  return 1;
}

heed_json_kind heed_json_kind_of(const heed_json *json, heed_json_value value) {
  return (heed_json_kind)node_of(json, value)->kind;
}

const char *heed_json_kind_name(heed_json_kind kind) {
  static const char *const names[] = {"nothing",  "null",     "false",    "true",
                                      "a number", "a string", "an array", "an object"};
  return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

size_t heed_json_offset(const heed_json *json, heed_json_value value) {
  return node_of(json, value)->start;
}

uint32_t heed_json_count(const heed_json *json, heed_json_value container) {
  const json_node *node = node_of(json, container);
  return node->kind == HEED_JSON_ARRAY || node->kind == HEED_JSON_OBJECT ? node->length : 0;
}

heed_json_value heed_json_first(const heed_json *json, heed_json_value container) {
  if (heed_json_count(json, container) == 0) return 0;
  return container + (node_of(json, container)->kind == HEED_JSON_OBJECT ? 2 : 1);
}

heed_json_value heed_json_next(const heed_json *json, heed_json_value container,
                               heed_json_value value) {
  const json_node *node = node_of(json, container);
  const uint32_t after = node_of(json, value)->end;
  if (after >= node->end) return 0;
  return node->kind == HEED_JSON_OBJECT ? after + 1 : after;
}

const char *heed_json_key(const heed_json *json, heed_json_value member, size_t *length) {
  const char *text = "";
  if (length) *length = 0;
  if (member > 1) heed_json_string(json, member - 1, &text, length);
  return text;
}

heed_json_value heed_json_get(const heed_json *json, heed_json_value object, const char *key) {
  const size_t wanted = strlen(key);
  if (heed_json_kind_of(json, object) != HEED_JSON_OBJECT) return 0;
  for (heed_json_value member = heed_json_first(json, object); member;
       member = heed_json_next(json, object, member)) {
    const json_node *node = node_of(json, member - 1);
    if (node->length == wanted && memcmp(json->text + node->start, key, wanted) == 0) return member;
  }
  return 0;
}

bool heed_json_string(const heed_json *json, heed_json_value value, const char **text,
                      size_t *length) {
  const json_node *node = node_of(json, value);
  if (node->kind != HEED_JSON_STRING) return false;
  *text = json->text + node->start;
  if (length) *length = node->length;
  return true;
}

bool heed_json_u64(const heed_json *json, heed_json_value value, uint64_t *number) {
  const json_node *node = node_of(json, value);
  uint64_t sum = 0;
  if (node->kind != HEED_JSON_NUMBER) return false;
  for (uint32_t i = 0; i < node->length; i++) {
    const char c = json->text[node->start + i];
    if (c < '0' || c > '9' || !heed_u64_mul(sum, 10, &sum) ||
        !heed_u64_add(sum, (uint64_t)(c - '0'), &sum))
      return false;
  }
  *number = sum;
  return true;
}

bool heed_json_i64(const heed_json *json, heed_json_value value, int64_t *number) {
  const json_node *node = node_of(json, value);
  uint64_t sum = 0;
  if (node->kind != HEED_JSON_NUMBER) return false;
  const bool negative = json->text[node->start] == '-';
  const uint64_t limit = negative ? UINT64_C(1) << 63 : INT64_MAX;
  for (uint32_t i = negative; i < node->length; i++) {
    const char c = json->text[node->start + i];
    if (c < '0' || c > '9') return false;
    const uint64_t digit = (uint64_t)(c - '0');
    if (sum > (limit - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  *number = !negative ? (int64_t)sum : sum == limit ? INT64_MIN : -(int64_t)sum;
  return true;
}

bool heed_json_finite(const heed_json *json, heed_json_value value) {
  const json_node *node = node_of(json, value);
  const char last = node->length ? json->text[node->start + node->length - 1] : '0';
  return node->kind == HEED_JSON_NUMBER && last >= '0' && last <= '9';
}

bool heed_json_double(const heed_json *json, heed_json_value value, double *number) {
  const json_node *node = node_of(json, value);
  return node->kind == HEED_JSON_NUMBER && heed_json_finite(json, value) &&
         heed_decimal_to_double(json->text + node->start, node->length, number);
}

bool heed_json_bool(const heed_json *json, heed_json_value value, bool *flag) {
  const json_node *node = node_of(json, value);
  if (node->kind != HEED_JSON_TRUE && node->kind != HEED_JSON_FALSE) return false;
  *flag = node->kind == HEED_JSON_TRUE;
  return true;
}
