/* NumPy's .npy and .npz as pictures of any number of channels: what no format of pictures holds.
 * Formats: numpy/lib/format.py, versions 1 to 3; PKWARE's APPNOTE for zip, of which entries that
 * are stored or deflated are read. The number of channels that is wanted tells which axis they
 * are. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "image/decoding.h"
#include "pickle/zip.h"

#define MAGIC 8 /* bytes of the name and of the version */
#define MOST_HEADER 65536u
#define DEFLATED 8 /* a method of zip */

/* An array in memory. */
typedef struct array {
  const uint8_t *bytes; /* of its elements */
  size_t size;
  char kind; /* b, u, i or f, as NumPy has it */
  uint32_t item;
  bool big_endian;
  uint32_t rank;
  uint64_t dim[4];
} array;

static heed_status fail_array(const decoding *work, const char *what, const char *found) {
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: not a valid .npy array (found %.60s, expected %s)", work->name, found,
                   what);
}

/* -------------------------------------------------------------------------------------- headers */

/* The text behind 'key': in a header; NULL: none. */
static const char *find_key(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at) return NULL;
  at += strlen(key);
  at += strspn(at, " ");
  if (*at++ != ':') return NULL;
  return at + strspn(at, " ");
}

static heed_status read_type(const decoding *work, const char *header, array *to) {
  const char *at = find_key(header, "'descr'");
  static const char expected[] = "'descr' of |b1, u1 to u8, i1 to i8 or f2 to f8";
  if (!at || *at != '\'' || !strchr("<>|=", at[1]) || !at[1] || !strchr("buif", at[2]) || !at[2] ||
      at[4] != '\'')
    return fail_array(work, expected, at ? at : "none");
  to->big_endian = at[1] == '>';
  to->kind = at[2];
  to->item = (uint32_t)(at[3] - '0');
  const bool known = to->kind == 'b' ? to->item == 1
                     : to->kind == 'f'
                         ? to->item == 2 || to->item == 4 || to->item == 8
                         : to->item == 1 || to->item == 2 || to->item == 4 || to->item == 8;
  return known ? HEED_OK : fail_array(work, expected, at);
}

static heed_status read_shape(const decoding *work, const char *header, array *to) {
  const char *at = find_key(header, "'shape'"), *order = find_key(header, "'fortran_order'");
  static const char expected[] = "'shape' of two, three or, with a first axis of 1, four numbers";
  if (!order || strncmp(order, "False", 5) != 0)
    return fail_array(work, "rows one after another, as np.ascontiguousarray makes them",
                      order ? "fortran_order" : "no order");
  if (!at || *at++ != '(') return fail_array(work, expected, "none");
  while (*at && *at != ')') {
    uint64_t number = 0;
    if (*at < '0' || *at > '9' || to->rank == 4) return fail_array(work, expected, at);
    for (; *at >= '0' && *at <= '9'; at++) /* no more than a file can have */
      if (number <= UINT32_MAX) number = number * 10 + (uint64_t)(*at - '0');
    to->dim[to->rank++] = number;
    at += strspn(at, "L, ");
  }
  if (to->rank == 4 && to->dim[0] == 1) {
    memmove(to->dim, to->dim + 1, 3 * sizeof *to->dim);
    to->rank = 3;
  }
  return to->rank == 2 || to->rank == 3 ? HEED_OK
                                        : fail_array(work, expected, "another number of axes");
}

static heed_status read_array(const decoding *work, const uint8_t *bytes, size_t size, array *to) {
  *to = (array){0};
  if (size < MAGIC + 4 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return fail_array(work, "an array of NumPy", "another file");
  const size_t counts = bytes[6] == 1 ? 2 : 4;
  uint32_t length = (uint32_t)bytes[8] | (uint32_t)bytes[9] << 8;
  if (counts == 4) length |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
  if (bytes[6] < 1 || bytes[6] > 3 || length > MOST_HEADER || length > size - MAGIC - counts)
    return fail_array(work, "version 1 to 3 and a whole header", "another");
  char *header = heed_alloc_raw(work->context, (size_t)length + 1, 1);
  if (!header) return heed_fail_memory(work->error, work->name, length);
  memcpy(header, bytes + MAGIC + counts, length);
  header[length] = '\0';
  heed_status status = read_type(work, header, to);
  if (status == HEED_OK) status = read_shape(work, header, to);
  heed_free(work->context, header);
  HEED_TRY(status);
  to->bytes = bytes + MAGIC + counts + length;
  to->size = size - MAGIC - counts - length;
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------- elements */

/* A half as a float: sign, five bits of exponent, ten of fraction. */
static double half_of(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023, sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == 31) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
  return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static double element_of(const array *a, size_t index) {
  const uint8_t *at = a->bytes + index * a->item;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < a->item; i++) bits = bits << 8 | at[a->big_endian ? i : a->item - 1 - i];
  if (a->kind == 'f' && a->item == 2) return half_of((uint16_t)bits);
  if (a->kind == 'f' && a->item == 4) {
    const uint32_t single = (uint32_t)bits;
    float number;
    memcpy(&number, &single, sizeof number);
    return (double)number;
  }
  if (a->kind == 'f') {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
  }
  const uint64_t sign = UINT64_C(1) << (8 * a->item - 1);
  if (a->kind == 'i' && (bits & sign)) return -(double)((sign << 1) - bits);
  return (double)bits;
}

/* [height, width, channels] of an array whose channels are its first axis, its last or none. */
typedef struct order {
  uint64_t height, width, channels;
  bool first;
} order;

static heed_status find_order(const decoding *work, const array *a, order *to) {
  const uint32_t wanted = work->most.channels;
  const uint64_t *dim = a->dim;
  const uint64_t one_or_wanted[] = {wanted, 1};
  *to = (order){dim[0], dim[1], 1, false};
  if (a->rank == 2 && (wanted == 1 || wanted == 3)) return HEED_OK;
  for (uint32_t i = 0; a->rank == 3 && i < (wanted == 3 ? 2 : 1); i++) {
    const uint64_t count = one_or_wanted[i];
    const bool first = dim[0] == count, last = dim[2] == count;
    if (first && last && count > 1)
      return heed_fail(work->error, HEED_INVALID_FILE,
                       "%s: which axis has the channels is not clear (found %u first and last, "
                       "expected one of them)",
                       work->name, wanted);
    if (first) *to = (order){dim[1], dim[2], count, true};
    if (!first && last) *to = (order){dim[0], dim[1], count, false};
    if (first || last) return HEED_OK;
  }
  char found[96] = "";
  for (uint32_t i = 0; i < a->rank; i++)
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s%llu", i ? " x " : "",
             (unsigned long long)dim[i]);
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: wrong shape (found %s, expected %u channels as the first or last axis)",
                   work->name, found, wanted);
}

/* Bytes and 16-bit numbers stay what they are, as samples of pictures; others are floats. */
static heed_samples samples_of(const array *a) {
  if (a->kind != 'u' || a->item > 2) return HEED_SAMPLES_F32;
  return a->item == 1 ? HEED_SAMPLES_U8 : HEED_SAMPLES_U16;
}

static heed_status fill(decoding *work, const array *a, const order *axes) {
  uint8_t *to = work->picture.pixels;
  const uint64_t plane = axes->height * axes->width;
  for (uint64_t i = 0; i < plane; i++)
    for (uint64_t c = 0; c < axes->channels; c++) {
      const double value = element_of(a, axes->first ? c * plane + i : i * axes->channels + c);
      const float single = (float)value;
      const uint16_t whole = (uint16_t)(work->picture.samples == HEED_SAMPLES_U16 ? value : 0.0);
      if (!isfinite(single))
        return heed_fail(work->error, HEED_INVALID_FILE,
                         "%s: not a number (found NaN or an infinity at row %llu, column %llu)",
                         work->name, (unsigned long long)(i / axes->width),
                         (unsigned long long)(i % axes->width));
      if (work->picture.samples == HEED_SAMPLES_U8) *to = (uint8_t)value;
      if (work->picture.samples == HEED_SAMPLES_U16) memcpy(to, &whole, sizeof whole);
      if (work->picture.samples == HEED_SAMPLES_F32) memcpy(to, &single, sizeof single);
      to += heed_sample_bytes(work->picture.samples);
    }
  return HEED_OK;
}

static uint32_t bounded(uint64_t side) { return side > UINT32_MAX ? UINT32_MAX : (uint32_t)side; }

static heed_status decode_array(decoding *work, const uint8_t *bytes, size_t size) {
  array a;
  order axes;
  uint64_t promised = 1;
  HEED_TRY(read_array(work, bytes, size, &a));
  for (uint32_t i = 0; i < a.rank; i++)
    if (a.dim[i] == 0 || !heed_u64_mul(promised, a.dim[i], &promised))
      return fail_array(work, "at least one element, and no more than memory has", "another shape");
  if (promised > a.size / a.item)
    return heed_fail(work->error, HEED_INVALID_FILE,
                     "%s: truncated array (found %zu bytes, expected %llu elements of %u)",
                     work->name, a.size, (unsigned long long)promised, a.item);
  HEED_TRY(find_order(work, &a, &axes));
  HEED_TRY(heed_decoding_check_size(work, bounded(axes.width), bounded(axes.height)));
  work->picture.channels = (uint32_t)axes.channels;
  work->picture.samples = samples_of(&a);
  HEED_TRY(heed_decoding_make_room(work, (uint32_t)axes.width, (uint32_t)axes.height));
  return fill(work, &a, &axes);
}

heed_status heed_decode_npy(decoding *work) { return decode_array(work, work->bytes, work->size); }

/* ------------------------------------------------------------------------------------------ npz */

/* The entry's bytes as they were before they were deflated: a buffer, to be freed. */
static heed_status inflate_entry(const decoding *work, const heed_zip_entry *entry,
                                 const uint8_t *from, uint8_t **to) {
  *to = NULL;
  if (entry->size > work->most.bytes || entry->stored > UINT32_MAX)
    return heed_fail(work->error, HEED_INVALID_FILE,
                     "%s: array too large (found %llu bytes, expected at most %u)", work->name,
                     (unsigned long long)entry->size, work->most.bytes);
  uint8_t *made = heed_alloc_raw(work->context, (size_t)entry->size + 1, 1);
  if (!made) return heed_fail_memory(work->error, work->name, (size_t)entry->size);
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)entry->stored};
  stream.next_out = made;
  stream.avail_out = (uInt)entry->size;
  int result = inflateInit2(&stream, -MAX_WBITS); /* without a head of its own */
  if (result == Z_OK) result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (whole) {
    *to = made;
    return HEED_OK;
  }
  heed_free(work->context, made);
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: broken .npz file (found a deflated array that does not unpack)",
                   work->name);
}

static heed_status decode_entry(decoding *work, const heed_zip *zip) {
  const heed_zip_entry *entry = &zip->entries[0];
  if (zip->count != 1)
    return heed_fail(work->error, HEED_UNSUPPORTED,
                     "%s: which array is the image is not clear (found %u, such as %.60s, expected "
                     "one: np.savez(file, image=array))",
                     work->name, zip->count, zip->count ? heed_zip_name(zip, entry) : "none");
  if (entry->method != 0 && entry->method != DEFLATED)
    return heed_fail(work->error, HEED_UNSUPPORTED,
                     "%s: packed otherwise than np.savez_compressed packs (found method %u, "
                     "expected %d)",
                     work->name, entry->method, DEFLATED);
  heed_zip_entry packed = *entry; /* where its bytes lie, whatever they are */
  packed.method = 0;
  packed.size = packed.stored;
  uint64_t offset;
  HEED_TRY(heed_zip_locate(zip, &packed, &offset, work->error));
  if (entry->method == 0) return decode_array(work, work->bytes + offset, (size_t)entry->size);
  uint8_t *unpacked;
  HEED_TRY(inflate_entry(work, entry, work->bytes + offset, &unpacked));
  const heed_status status = decode_array(work, unpacked, (size_t)entry->size);
  heed_free(work->context, unpacked);
  return status;
}

heed_status heed_decode_npz(decoding *work) {
  const heed_source source = {work->size, work->bytes, NULL, NULL};
  heed_zip zip;
  heed_status status = heed_zip_open(work->context, &source, work->name, &zip, work->error);
  if (status == HEED_OK) status = decode_entry(work, &zip);
  heed_zip_close(&zip);
  return status;
}
