/* Changes of PyTorch's files: see change.h. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/change.h"
#include "support/torch_file.h"

/* Bytes of an opcode with its arguments. */
static size_t opcode_size(const uint8_t *at, size_t left) {
  uint64_t size = 1, length = 0;
  uint32_t lines = 0, prefix = 0;
  switch (*at) {
    case 'c':
    case 'i': lines = 2; break;
    case 'F':
    case 'I':
    case 'L':
    case 'S':
    case 'V':
    case 'g':
    case 'p':
    case 'P': lines = 1; break;
    case 'K':
    case 'h':
    case 'q':
    case 0x80:
    case 0x82: size = 2; break;
    case 'M':
    case 0x83: size = 3; break;
    case 'J':
    case 'j':
    case 'r':
    case 0x84: size = 5; break;
    case 'G':
    case 0x95: size = 9; break;
    case 'U':
    case 'C':
    case 0x8A:
    case 0x8C: prefix = 1; break;
    case 'X':
    case 'B':
    case 'T':
    case 0x8B: prefix = 4; break;
    case 0x8D:
    case 0x8E:
    case 0x96: prefix = 8; break;
    default: break;
  }
  for (; lines > 0 && size < left; size++)
    if (at[size] == '\n') lines--;
  for (uint32_t i = 0; i < prefix && 1 + i < left; i++) length |= (uint64_t)at[1 + i] << 8 * i;
  size += prefix + (length < left ? length : left);
  return size < left ? (size_t)size : left;
}

static const char opcodes[] =
    ".(012FNIJKLMPQRSTUVXabcdeghijlopqrstu]})\x80\x81\x85\x86\x87\x88\x89\x8A\x8C\x8E\x8F\x90\x91"
    "\x92\x93\x94\x95\x96\x97\x98";
static const struct {
  const char *bytes;
  size_t size;
} pieces[] = {
#define PIECE(text) \
  { text, sizeof(text) - 1 }
    PIECE("ctorch._utils\n_rebuild_tensor_v2\n"),
    PIECE("ctorch._utils\n_rebuild_parameter\n"),
    PIECE("ccollections\nOrderedDict\n"),
    PIECE("ctorch\nHalfStorage\n"),
    PIECE("ctorch\nDoubleStorage\n"),
    PIECE("ctorch\nLongStorage\n"),
    PIECE("ctorch\nSize\n"),
    PIECE("cargparse\nNamespace\n"),
    PIECE("K\0"),
    PIECE("K\2K\3\x86"),
    PIECE("J\xFF\xFF\xFF\xFF"),
    PIECE("J\xFF\xFF\xFF\x7F"),
    PIECE("\x8A\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"),
    PIECE("G\x7F\xF0\0\0\0\0\0\0"),
    PIECE("N"),
    PIECE(")"),
    PIECE("}"),
    PIECE("]"),
    PIECE("("),
    PIECE("0"),
    PIECE("2"),
    PIECE("h\0"),
    PIECE("q\0"),
    PIECE("X\0\0\0\0"),
    PIECE("X\1\0\0\0w"),
    PIECE(")R"),
    PIECE("}b"),
    PIECE("tQ")
#undef PIECE
};

static void change_pickle(fuzz_input *input, test_random *random) {
  size_t start[2048];
  uint32_t count = 0;
  for (size_t at = 0; at < input->size && count < 2047;
       at += opcode_size(input->bytes + at, input->size - at))
    start[count++] = at;
  if (count == 0) {
    fuzz_change_bytes(input, random);
    return;
  }
  start[count] = start[count - 1] +
                 opcode_size(input->bytes + start[count - 1], input->size - start[count - 1]);
  const uint32_t a = test_random_below(random, count), b = test_random_below(random, count),
                 piece = test_random_below(random, sizeof pieces / sizeof *pieces);
  const size_t size = start[a + 1] - start[a];
  switch (test_random_below(random, 7)) {
    case 0: fuzz_put(input, start[a], size, "", 0); break;
    case 1: { /* one of the file elsewhere */
      fuzz_input copy =
          fuzz_part(input->bytes + start[b], start[b + 1] - start[b], start[b + 1] - start[b]);
      fuzz_put(input, start[a], test_random_below(random, 2) ? size : 0, copy.bytes, copy.size);
      free(copy.bytes);
      break;
    }
    case 2: fuzz_put(input, start[a], 0, pieces[piece].bytes, pieces[piece].size); break;
    case 3: fuzz_put(input, start[a], size, pieces[piece].bytes, pieces[piece].size); break;
    case 4:
      input->bytes[start[a]] = (uint8_t)opcodes[test_random_below(random, sizeof opcodes - 1)];
      break;
    default: { /* its arguments */
      if (size < 2 || size > 256) {
        fuzz_change_bytes(input, random);
        return;
      }
      fuzz_input arguments = fuzz_part(input->bytes + start[a] + 1, size - 1, size + 16);
      fuzz_change_bytes(&arguments, random);
      const uint8_t opcode = input->bytes[start[a]];
      const bool counted = opcode == 'X' && arguments.size >= 4;
      for (uint32_t i = 0; counted && i < 4; i++)
        arguments.bytes[i] = (uint8_t)((arguments.size - 4) >> 8 * i);
      const bool sized = strchr("KMJhqjrG", opcode) && opcode;
      fuzz_put(input, start[a] + 1, size - 1, arguments.bytes, sized ? size - 1 : arguments.size);
      free(arguments.bytes);
    }
  }
}

/* -------------------------------------------------------------------------------------- zip files
 */

static uint32_t little(const uint8_t *at, uint32_t count) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; i++) number |= (uint32_t)at[i] << 8 * i;
  return number;
}

typedef struct entry {
  char name[64];
  fuzz_input data;
  uint32_t method, flags;
} entry;

/* The entries of the directory, where it has sizes of 32 bits. */
static uint32_t read_entries(const fuzz_input *zip, entry *entries, uint32_t most) {
  uint32_t count = 0;
  for (size_t at = 0; at + 46 <= zip->size && count < most; at++) {
    const uint8_t *record = zip->bytes + at;
    if (memcmp(record, "PK\1\2", 4) != 0) continue;
    const uint32_t size = little(record + 20, 4), name = little(record + 28, 2),
                   local = little(record + 42, 4);
    if (name > zip->size - at - 46 || local > zip->size || zip->size - local < 30) continue;
    const uint32_t content =
        local + 30 + little(zip->bytes + local + 26, 2) + little(zip->bytes + local + 28, 2);
    if (content > zip->size || size > zip->size - content) continue;
    entry *e = &entries[count++];
    memset(e->name, 0, sizeof e->name);
    memcpy(e->name, record + 46, name < sizeof e->name - 1 ? name : sizeof e->name - 1);
    e->data = fuzz_part(zip->bytes + content, size, size + 256);
    e->method = little(record + 10, 2);
    e->flags = little(record + 8, 2);
  }
  return count;
}

/* A field of a record: of the directory, of an entry or at the end. */
static void change_record(fuzz_input *zip, test_random *random) {
  static const struct {
    const char *signature;
    uint32_t size;
  } records[] = {{"PK\1\2", 46}, {"PK\3\4", 30}, {"PK\5\6", 22}, {"PK\6\6", 56}, {"PK\6\7", 20}};
  const uint32_t kind = test_random_below(random, 5);
  size_t chosen = zip->size;
  uint32_t seen = 0;
  for (size_t at = 0; at + records[kind].size <= zip->size; at++)
    if (!memcmp(zip->bytes + at, records[kind].signature, 4) &&
        test_random_below(random, ++seen) == 0)
      chosen = at;
  if (chosen == zip->size) return;
  uint8_t *at = zip->bytes + chosen + 4 + test_random_below(random, records[kind].size - 4);
  static const uint8_t bytes[] = {0, 1, 255, 127, 128, 8};
  if (test_random_below(random, 3))
    *at = bytes[test_random_below(random, sizeof bytes)];
  else
    *at = (uint8_t)(*at + 1 - 2 * test_random_below(random, 2));
}

static void change_zip(fuzz_input *input, test_random *random) {
  enum { MOST = 16 };
  entry entries[MOST];
  test_zip_entry made[MOST];
  uint32_t count = read_entries(input, entries, MOST - 1);
  static const char *const names[] = {"data.pkl",   "a/data.pkl", "b/data.pkl",
                                      "a/data/1",   "a/data/0",   "a/byteorder",
                                      "a/version",  "",           "a/.data/serialization_id",
                                      "a/code/a.py"};
  if (count == 0) {
    fuzz_change_bytes(input, random);
    return;
  }
  entry *e = &entries[test_random_below(random, count)];
  switch (test_random_below(random, 8)) {
    case 0: strcpy(e->name, names[test_random_below(random, sizeof names / sizeof *names)]); break;
    case 1: { /* it twice */
      entry copy = *e;
      copy.data = fuzz_part(e->data.bytes, e->data.size, e->data.room);
      entries[count++] = copy;
      break;
    }
    case 2: {
      entry last = entries[--count];
      entry gone = *e;
      *e = last;
      if (e == &entries[count]) gone = last;
      free(gone.data.bytes);
      break;
    }
    case 3: e->method = test_random_below(random, 2) ? 8 : 0; break;
    case 4: e->flags = 1u << test_random_below(random, 12); break;
    default:
      if (strstr(e->name, ".pkl"))
        change_pickle(&e->data, random);
      else
        fuzz_change_bytes(&e->data, random);
  }
  for (uint32_t i = 0; i < count; i++)
    made[i] = (test_zip_entry){entries[i].name, entries[i].data.bytes, entries[i].data.size,
                               entries[i].method, entries[i].flags};
  test_bytes zip = test_zip(made, count, test_random_below(random, 4) == 0);
  if (zip.size <= input->room) {
    memcpy(input->bytes, zip.data, zip.size);
    input->size = zip.size;
    if (test_random_below(random, 3) == 0) change_record(input, random);
  }
  free(zip.data);
  for (uint32_t i = 0; i < count; i++) free(entries[i].data.bytes);
}

void fuzz_change_torch(fuzz_input *input, test_random *random) {
  if (input->size > 4 && memcmp(input->bytes, "PK", 2) == 0)
    change_zip(input, random);
  else
    change_pickle(input, random);
}
