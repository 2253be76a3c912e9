/* A PyTorch file as the bytes of a .safetensors file. See heed/pickle.h.
 *
 * The tensors stand in the order of the state dictionary. Each is a range of the file, or, where
 * its elements are not side by side, a copy. */
#include "heed/pickle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "model/files/virtual_file.h"
#include "pickle/container.h"
#include "pickle/layout.h"
#include "pickle/state_dict.h"
#include "pickle/training.h"

#define CHUNK_BYTES 16384u
#define MOST_GAP 8u /* of a tensor's span to its elements, for the span to be read whole */
#define LINES 64u   /* that were read last */
#define LINE_BYTES 64u

/* Where a tensor's bytes are. */
typedef struct segment {
  uint64_t offset, bytes; /* offset: in the source, unless there is a copy */
  unsigned char *copy;
} segment;

struct heed_pickle {
  const heed_context *context;
  heed_context within; /* of all that the file has */
  heed_source source;
  char *name;
  heed_assembled made;
  segment *segments;  /* [made.count] */
  heed_budget copies; /* bytes */
  bool shares;
  char origin[64];
};

/* Parts of the file that were read last, for elements that are read one by one: many tensors may
 * be views of the same ones. A line has LINE_BYTES from at * LINE_BYTES on, where the file has as
 * many. */
typedef struct lines {
  uint64_t at[LINES];
  bool there[LINES];
  unsigned char bytes[LINES][LINE_BYTES];
} lines;

typedef struct opening {
  heed_pickle *file;
  lines lines;
  heed_container container;
  heed_state_dict dict;
  heed_error *error;
} opening;

/* --------------------------------------------------------------------------------------- the
 * copies */

/* Puts `count` elements, that follow each other in the storage from element `from` of the span,
 * where they belong. Axes in the order of falling strides: an element's place is divided by each.
 */
typedef struct scatter {
  const heed_layout *layout;
  uint32_t axes[HEED_PICKLE_MAX_RANK], count;
  uint64_t steps[HEED_PICKLE_MAX_RANK]; /* of an axis in the copy, in elements */
} scatter;

static scatter plan_scatter(const heed_layout *layout) {
  scatter s = {.layout = layout};
  uint64_t step = 1;
  for (uint32_t axis = layout->rank; axis-- > 0;) {
    s.steps[axis] = step;
    step *= layout->size[axis];
    if (layout->size[axis] <= 1) continue;
    uint32_t at = s.count++;
    for (; at > 0 && layout->stride[s.axes[at - 1]] < layout->stride[axis]; at--)
      s.axes[at] = s.axes[at - 1];
    s.axes[at] = axis;
  }
  return s;
}

/* Where element `at` of the span goes; false where it is none of the tensor's. */
static bool target_of(const scatter *s, uint64_t at, uint64_t *target) {
  *target = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const uint32_t axis = s->axes[i];
    const uint64_t index = at / s->layout->stride[axis];
    if (index >= s->layout->size[axis]) return false;
    at -= index * s->layout->stride[axis];
    *target += index * s->steps[axis];
  }
  return at == 0;
}

typedef struct copying {
  const heed_pickle *file;
  const heed_layout *layout;
  uint64_t offset; /* of the first element, in the source */
  unsigned char *copy;
  lines *lines;
  heed_error *error;
} copying;

/* Reads all from the first element to the last, and keeps what is the tensor's. */
static heed_status copy_span(const copying *c) {
  unsigned char chunk[CHUNK_BYTES];
  const scatter s = plan_scatter(c->layout);
  const uint32_t size = c->layout->dtype->bytes, most = CHUNK_BYTES / size;
  for (uint64_t done = 0; done < c->layout->span;) {
    const uint64_t left = c->layout->span - done;
    const uint32_t part = left < most ? (uint32_t)left : most;
    HEED_TRY(heed_source_read(&c->file->source, c->file->name, c->offset + done * size, chunk,
                              (size_t)part * size, c->error));
    for (uint32_t i = 0; i < part; i++) {
      uint64_t target;
      if (target_of(&s, done + i, &target))
        memcpy(c->copy + target * size, chunk + (size_t)i * size, size);
    }
    done += part;
  }
  return HEED_OK;
}

static heed_status read_line(const copying *c, uint64_t at, const unsigned char **bytes) {
  const uint64_t slot = at % LINES, begin = at * LINE_BYTES, left = c->file->source.size - begin;
  lines *l = c->lines;
  *bytes = l->bytes[slot];
  if (l->there[slot] && l->at[slot] == at) return HEED_OK;
  l->there[slot] = false;
  HEED_TRY(heed_source_read(&c->file->source, c->file->name, begin, l->bytes[slot],
                            left < LINE_BYTES ? (size_t)left : LINE_BYTES, c->error));
  l->there[slot] = true;
  l->at[slot] = at;
  return HEED_OK;
}

/* An element, which the file has; it may begin in one line and end in the next. */
static heed_status read_element(const copying *c, uint64_t offset, unsigned char *to,
                                uint32_t size) {
  for (uint32_t done = 0; done < size;) {
    const uint64_t at = offset + done, first = at % LINE_BYTES, left = size - done,
                   part = LINE_BYTES - first < left ? LINE_BYTES - first : left;
    const unsigned char *bytes;
    HEED_TRY(read_line(c, at / LINE_BYTES, &bytes));
    memcpy(to + done, bytes + first, (size_t)part);
    done += (uint32_t)part;
  }
  return HEED_OK;
}

/* Reads each element by itself. */
static heed_status copy_each(const copying *c) {
  const heed_layout *l = c->layout;
  const uint32_t size = l->dtype->bytes;
  uint64_t index[HEED_PICKLE_MAX_RANK] = {0}, from = 0;
  for (uint64_t to = 0; to < l->count; to++) {
    HEED_TRY(read_element(c, c->offset + from * size, c->copy + to * size, size));
    for (uint32_t axis = l->rank; axis-- > 0;) {
      from += l->stride[axis];
      if (++index[axis] < l->size[axis]) break;
      from -= index[axis] * l->stride[axis];
      index[axis] = 0;
    }
  }
  return HEED_OK;
}

/* What lies far apart is read by itself: what is read grows with what is copied. */
static heed_status fill_copy(const copying *c) {
  return c->layout->span / MOST_GAP > c->layout->count ? copy_each(c) : copy_span(c);
}

/* All copies of a file together are at most as large as the file: a hostile one could ask for the
 * same storage any number of times. */
static heed_status copy_tensor(opening *o, const heed_layout *layout, uint64_t bytes, segment *to,
                               const char *name) {
  heed_pickle *file = o->file;
  heed_error *error = o->error;
  if (!heed_budget_spend(&file->copies, bytes) || bytes > SIZE_MAX)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s: too many tensors are transposed views of others (expected "
                     "copies of at most the file's size); save tensor.contiguous()",
                     file->name, HEED_CUT(name));
  to->copy = heed_alloc_raw(file->context, (size_t)bytes, 1);
  if (!to->copy) return heed_fail_memory(error, file->name, (size_t)bytes);
  return fill_copy(&(copying){file, layout, to->offset, to->copy, &o->lines, error});
}

/* ----------------------------------------------------------------------------------------- opening
 */

static heed_status add_tensor(opening *o, uint32_t index) {
  heed_pickle *file = o->file;
  heed_layout layout;
  uint64_t storage;
  const char *name = heed_state_dict_name(&o->dict, index);
  HEED_TRY(
      heed_layout_read(&o->container.heap, o->dict.entries[index].tensor, name, &layout, o->error));
  HEED_TRY(heed_container_locate(&o->container, layout.storage, &storage, o->error));
  const uint64_t bytes =
      layout.count * layout.dtype->bytes; /* each element has a place in the storage */
  segment *to = &file->segments[index];
  *to = (segment){storage + layout.offset * layout.dtype->bytes, bytes, NULL};
  HEED_TRY(heed_assembled_add(&file->made, name, layout.dtype->name, layout.rank, layout.size,
                              bytes, o->error));
  return layout.dense ? HEED_OK : copy_tensor(o, &layout, bytes, to, name);
}

static bool offset_less(const void *user, uint32_t a, uint32_t b) {
  const segment *segments = user;
  return segments[a].offset != segments[b].offset ? segments[a].offset < segments[b].offset : a < b;
}

static heed_status find_shared(heed_pickle *file, heed_error *error) {
  const uint32_t tensors = file->made.count;
  uint32_t *order = heed_alloc(file->context, tensors, sizeof *order);
  uint64_t end = 0;
  uint32_t count = 0;
  if (!order) return heed_fail_memory(error, file->name, tensors * sizeof *order);
  for (uint32_t i = 0; i < tensors; i++)
    if (!file->segments[i].copy) order[count++] = i;
  heed_sort(order, count, offset_less, file->segments);
  for (uint32_t i = 0; i < count; i++) {
    const segment *at = &file->segments[order[i]];
    if (at->bytes == 0) continue;
    file->shares |= at->offset < end;
    if (at->offset + at->bytes > end) end = at->offset + at->bytes;
  }
  heed_free(file->context, order);
  return HEED_OK;
}

/* As heed_assembled_read. */
static heed_status read_tensor(void *user, uint32_t index, uint64_t offset, void *to, size_t count,
                               heed_error *error) {
  const heed_pickle *file = user;
  const segment *from = &file->segments[index];
  if (!from->copy)
    return heed_source_read(&file->source, file->name, from->offset + offset, to, count, error);
  memcpy(to, from->copy + offset, count);
  return HEED_OK;
}

static heed_status add_tensors(opening *o) {
  heed_pickle *file = o->file;
  const uint32_t count = o->dict.count;
  file->made = (heed_assembled){
      .context = file->context, .where = file->name, .read = read_tensor, .user = file};
  file->segments = heed_alloc(file->context, (size_t)count + 1, sizeof *file->segments);
  if (!file->segments)
    return heed_fail_memory(o->error, file->name, count * sizeof *file->segments);
  HEED_TRY(heed_training_note(&o->container.heap, o->container.root, &file->made, o->error));
  for (uint32_t i = 0; i < count; i++) HEED_TRY(add_tensor(o, i));
  memcpy(file->origin, o->dict.origin, sizeof file->origin);
  HEED_TRY(find_shared(file, o->error));
  return heed_assembled_finish(&file->made, o->error);
}

static heed_status open_file(heed_pickle *file, const char *key, heed_error *error) {
  opening o = {.file = file, .error = error};
  if (file->source.size > INT64_MAX)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "%s: the source is too large", file->name);
  heed_status status =
      heed_container_open(file->context, &file->source, file->name, &o.container, error);
  o.dict.context = file->context;
  if (status == HEED_OK)
    status = heed_state_dict_find(&o.container.heap, o.container.root, key, &o.dict, error);
  if (status == HEED_OK) status = add_tensors(&o);
  heed_state_dict_free(&o.dict);
  heed_container_close(&o.container);
  return status;
}

/* A .safetensors file begins with a length, which may be any bytes. */
bool heed_pickle_begins(const void *bytes, size_t count) {
  const unsigned char *first = bytes;
  if (count < 4 || (count >= 9 && memcmp(first + 6, "\0\0{", 3) == 0)) return false;
  return memcmp(first, "PK\3\4", 4) == 0 || (first[0] == 0x80 && first[1] >= 2 && first[1] <= 5);
}

heed_status heed_pickle_open(heed_context *context, const heed_source *source, const char *name,
                             heed_pickle **file, heed_error *error) {
  return heed_pickle_open_key(context, source, name, NULL, file, error);
}

heed_status heed_pickle_open_key(heed_context *context, const heed_source *source, const char *name,
                                 const char *key, heed_pickle **file, heed_error *error) {
  if (!context || !source || !name || !file)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "pickle: NULL argument (expected context, source, name and file)");
  *file = NULL;
  heed_pickle *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, name, sizeof *made);
  heed_budget memory;
  heed_budget_open(context, source->size, &memory, &made->within);
  made->context = &made->within;
  made->source = *source;
  made->copies.most = source->size;
  made->name = heed_copy_string(made->context, name, strlen(name));
  heed_status status =
      made->name ? open_file(made, key, error) : heed_fail_memory(error, name, strlen(name) + 1);
  status = heed_budget_close(&memory, &made->within, status, name, error);
  if (status == HEED_OK)
    *file = made;
  else
    heed_pickle_destroy(made);
  return status;
}

void heed_pickle_destroy(heed_pickle *file) {
  if (!file) return;
  const heed_context *context = file->context;
  for (uint32_t i = 0; i < file->made.count; i++) heed_free(context, file->segments[i].copy);
  heed_free(context, file->segments);
  heed_assembled_free(&file->made);
  heed_free(context, file->name);
  heed_free(context, file);
}

heed_source heed_pickle_source(heed_pickle *file) { return heed_assembled_source(&file->made); }

bool heed_pickle_shares(const heed_pickle *file) { return file->shares; }

const char *heed_pickle_origin(const heed_pickle *file) { return file->origin; }
