/* Changes of JSON: see change.h. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/change.h"

#define MOST 4096u

/* A value, from its key on where it has one. */
typedef struct place {
  size_t key, start, end;
  bool has_key;
} place;

static size_t string_end(const uint8_t *text, size_t size, size_t at) {
  for (at++; at < size && text[at] != '"'; at++)
    if (text[at] == '\\') at++;
  return at < size ? at + 1 : size;
}

static size_t skip_blanks(const uint8_t *text, size_t size, size_t at) {
  while (at < size && strchr(" \t\r\n", text[at]) && text[at]) at++;
  return at;
}

/* All values, in the order of their starts. Text that is no JSON gives those before it goes wrong.
 */
static uint32_t find_places(const uint8_t *text, size_t size, place *places) {
  uint32_t open[64], depth = 0, count = 0;
  size_t key = 0;
  bool has_key = false;
  for (size_t at = 0; at < size && count < MOST;) {
    const char c = (char)text[at];
    size_t end = at + 1;
    if (c == '}' || c == ']') {
      if (depth > 0 && --depth < 64) places[open[depth]].end = end;
      has_key = false;
    } else if (c && !strchr(" \t\r\n,:", c)) {
      if (c == '"') end = string_end(text, size, at);
      const size_t after = skip_blanks(text, size, end);
      if (c == '"' && after < size && text[after] == ':') {
        key = at;
        has_key = true;
        end = after + 1;
      } else {
        if (c == '{' || c == '[') {
          if (depth < 64) open[depth] = count;
          depth++;
        } else if (c != '"') {
          while (end < size && text[end] && !strchr(" \t\r\n,:{}[]\"", text[end])) end++;
        }
        places[count++] =
            (place){has_key ? key : at, at, c == '{' || c == '[' ? size : end, has_key};
        has_key = false;
      }
    }
    at = end;
  }
  return count;
}

/* With the comma before it, or the one after. */
static void cut(fuzz_input *input, const place *p) {
  size_t start = p->key, end = p->end;
  const size_t after = skip_blanks(input->bytes, input->size, end);
  if (after < input->size && input->bytes[after] == ',')
    end = after + 1;
  else
    while (start > 0 && strchr(" \t\r\n,", input->bytes[start - 1]) && input->bytes[start - 1])
      if (input->bytes[--start] == ',') break;
  fuzz_put(input, start, end - start, "", 0);
}

static void put_text(fuzz_input *input, size_t start, size_t end, const char *text) {
  fuzz_put(input, start, end - start, text, strlen(text));
}

/* A copy of a value, with its key or without, behind the first that has the same. */
static void put_copy(fuzz_input *input, const place *from, const place *to) {
  const size_t size = from->end - from->key;
  fuzz_input copy = fuzz_part((const uint8_t *)",", 1, size + 1);
  memcpy(copy.bytes + 1, input->bytes + from->key, size);
  if (to->has_key == from->has_key) fuzz_put(input, to->end, 0, copy.bytes, size + 1);
  free(copy.bytes);
}

static const char *const values[] = {"0",
                                     "1",
                                     "2",
                                     "3",
                                     "4",
                                     "5",
                                     "8",
                                     "16",
                                     "255",
                                     "65536",
                                     "-1",
                                     "0.5",
                                     "1e-6",
                                     "1e39",
                                     "1e300",
                                     "4294967296",
                                     "2147483648",
                                     "18446744073709551615",
                                     "9007199254740993",
                                     "true",
                                     "false",
                                     "null",
                                     "[]",
                                     "{}",
                                     "\"\"",
                                     "[1]",
                                     "[1,2]",
                                     "[[1,2],[3]]",
                                     "{\"a\":1}",
                                     "\"a\"",
                                     "\"\\ud834\\udd1e\""};

void fuzz_change_json(fuzz_input *input, test_random *random, const char *const *words) {
  place *places = malloc(MOST * sizeof *places);
  if (!places) abort();
  const uint32_t count = find_places(input->bytes, input->size, places);
  uint32_t word_count = 0;
  while (words && words[word_count]) word_count++;
  if (count == 0) {
    free(places);
    fuzz_change_bytes(input, random);
    return;
  }
  const place p = places[test_random_below(random, count)],
              other = places[test_random_below(random, count)];
  const char *word = word_count ? words[test_random_below(random, word_count)] : "\"a\"",
             *value = values[test_random_below(random, sizeof values / sizeof *values)];
  free(places);
  switch (test_random_below(random, 10)) {
    case 0:
    case 1: cut(input, &p); break;
    case 2: put_copy(input, &other, &p); break;
    case 3: { /* a value elsewhere of the same file */
      fuzz_input copy =
          fuzz_part(input->bytes + other.start, other.end - other.start, other.end - other.start);
      fuzz_put(input, p.start, p.end - p.start, copy.bytes, copy.size);
      free(copy.bytes);
      break;
    }
    case 4:
    case 5: put_text(input, p.start, p.end, value); break;
    case 6: put_text(input, p.start, p.end, word); break;
    case 7: /* another key: one of the words, or a key of the file */
      if (!p.has_key) {
        put_text(input, p.start, p.end, word);
      } else if (other.has_key && test_random_below(random, 2)) {
        const size_t end = string_end(input->bytes, input->size, other.key);
        fuzz_input key = fuzz_part(input->bytes + other.key, end - other.key, end - other.key);
        fuzz_put(input, p.key, string_end(input->bytes, input->size, p.key) - p.key, key.bytes,
                 key.size);
        free(key.bytes);
      } else if (*word == '"') {
        put_text(input, p.key, string_end(input->bytes, input->size, p.key), word);
      }
      break;
    default: { /* the bytes of a number or a text, without its quotes */
      const bool quoted = input->bytes[p.start] == '"' && p.end - p.start >= 2;
      const size_t start = p.start + quoted, size = p.end - quoted - start;
      if (size > 64) {
        put_text(input, p.start, p.end, value);
        return;
      }
      fuzz_input text = fuzz_part(input->bytes + start, size, size + 64);
      fuzz_change_bytes(&text, random);
      fuzz_put(input, start, size, text.bytes, text.size);
      free(text.bytes);
    }
  }
}
