/* What names of PyTorch mean. See calls.h.
 *
 * torch/_utils.py: _rebuild_tensor(storage, offset, size, stride), _rebuild_tensor_v2(… ,
 * requires_grad, hooks, metadata), _rebuild_tensor_v3(… , hooks, dtype, metadata),
 * _rebuild_parameter(tensor, requires_grad, hooks). torch/serialization.py: a storage is the
 * persistent id ("storage", class, key, location, elements), in old files with a sixth part, which
 * is None today. */
#include "pickle/calls.h"

#include <string.h>

#include "base/status.h"
#include "base/utf8.h"

#define MOST_ARGUMENTS 64u /* that are looked at: no tensor is made of as many values */

typedef enum heed_pickle_meaning {
  OTHER = 0,
  TENSOR,
  TENSOR_OF_DTYPE,
  FIRST, /* stands for its first argument */
  DICT,
  APPLY, /* (function, class, arguments, ...): a subclass of a tensor */
  DTYPES /* from here on: an index of dtypes */
} heed_pickle_meaning;

static const struct {
  const char *name;
  heed_pickle_meaning meaning;
} callables[] = {{"torch._utils._rebuild_tensor", TENSOR},
                 {"torch._utils._rebuild_tensor_v2", TENSOR},
                 {"torch._utils._rebuild_tensor_v3", TENSOR_OF_DTYPE},
                 {"torch._utils._rebuild_parameter", FIRST},
                 {"torch._utils._rebuild_parameter_with_state", FIRST},
                 {"torch.Size", FIRST},
                 {"collections.OrderedDict", DICT},
                 {"torch._tensor._rebuild_from_type", APPLY},
                 {"torch._tensor._rebuild_from_type_v2", APPLY}};

static const struct {
  const char *storage, *type; /* torch.<storage>, torch.<type> */
  heed_pickle_dtype dtype;
} dtypes[] = {
    {"FloatStorage", "float32", {"F32", 4}},
    {"HalfStorage", "float16", {"F16", 2}},
    {"BFloat16Storage", "bfloat16", {"BF16", 2}},
    {"DoubleStorage", "float64", {"F64", 8}},
    {"LongStorage", "int64", {"I64", 8}},
    {"IntStorage", "int32", {"I32", 4}},
    {"ShortStorage", "int16", {"I16", 2}},
    {"CharStorage", "int8", {"I8", 1}},
    {"ByteStorage", "uint8", {"U8", 1}},
    {"BoolStorage", "bool", {"BOOL", 1}},
    {"ComplexFloatStorage", "complex64", {"C64", 8}},
    {"", "uint16", {"U16", 2}},
    {"", "uint32", {"U32", 4}},
    {"", "uint64", {"U64", 8}},
    {"", "float8_e4m3fn", {"F8_E4M3", 1}},
    {"", "float8_e5m2", {"F8_E5M2", 1}},
    {"", "float8_e4m3fnuz", {"F8_E4M3FNUZ", 1}},
    {"", "float8_e5m2fnuz", {"F8_E5M2FNUZ", 1}},
    {"UntypedStorage", "", {NULL, 1}},
    {"storage.UntypedStorage", "", {NULL, 1}},
    {"storage._UntypedStorage", "", {NULL, 1}},
};
#define DTYPE_COUNT (sizeof dtypes / sizeof *dtypes)

/* Modules that run something: no weights need them. A courtesy to whoever loads the file elsewhere,
 * as here nothing is called. */
static const char *const dangerous[] = {"os",
                                        "posix",
                                        "nt",
                                        "subprocess",
                                        "sys",
                                        "shutil",
                                        "socket",
                                        "pty",
                                        "runpy",
                                        "importlib",
                                        "webbrowser",
                                        "ctypes",
                                        "commands",
                                        "code",
                                        "pickle",
                                        "marshal",
                                        "timeit",
                                        "pdb",
                                        "builtins.eval",
                                        "builtins.exec",
                                        "builtins.compile",
                                        "builtins.__import__",
                                        "builtins.open",
                                        "builtins.breakpoint",
                                        "__builtin__.eval",
                                        "__builtin__.execfile",
                                        "__builtin__.compile",
                                        "__builtin__.__import__",
                                        "__builtin__.open",
                                        "torch.hub",
                                        "torch.load",
                                        "torch.serialization"};

static bool is_dangerous(const char *name) {
  /* of sparse tensors: it finds a constant by its name */
  if (strcmp(name, "torch.serialization._get_layout") == 0) return false;
  for (size_t i = 0; i < sizeof dangerous / sizeof *dangerous; i++) {
    const size_t length = strlen(dangerous[i]);
    if (strncmp(name, dangerous[i], length) == 0 && (!name[length] || name[length] == '.'))
      return true;
  }
  return false;
}

void heed_pickle_mean(heed_pickle_heap *heap, heed_pickle_id global) {
  const char *name = heed_pickle_text(heap, global);
  uint8_t *tag = &heap->values[global].tag;
  for (size_t i = 0; i < sizeof callables / sizeof *callables; i++)
    if (strcmp(name, callables[i].name) == 0) *tag = (uint8_t)callables[i].meaning;
  if (strncmp(name, "torch.", 6) != 0 || !name[6]) return;
  name += strncmp(name, "torch.cuda.", 11) == 0 ? 11 : 6;
  for (size_t i = 0; i < DTYPE_COUNT; i++)
    if (strcmp(name, dtypes[i].storage) == 0 || strcmp(name, dtypes[i].type) == 0)
      *tag = (uint8_t)(DTYPES + i);
}

const heed_pickle_dtype *heed_pickle_dtype_of(const heed_pickle_heap *heap, heed_pickle_id id) {
  const heed_pickle_value *value = heed_pickle_get(heap, id);
  const bool has = value->kind == HEED_PICKLE_STORAGE || value->kind == HEED_PICKLE_GLOBAL;
  return has && value->tag >= DTYPES ? &dtypes[value->tag - DTYPES].dtype : NULL;
}

/* ------------------------------------------------------------------------------------------ calls
 */

/* OrderedDict([[key, value], ...]), as Python 2 writes it. */
static heed_status make_dict(heed_pickle_heap *heap, heed_pickle_id pairs, heed_pickle_id *result,
                             heed_error *error) {
  HEED_TRY(heed_pickle_make(heap, HEED_PICKLE_DICT, result, error));
  if (heed_pickle_kind_of(heap, pairs) != HEED_PICKLE_LIST) return HEED_OK;
  for (uint32_t cell = heap->values[pairs].first; cell; cell = heap->cells[cell].next) {
    const heed_pickle_id pair = heap->cells[cell].value;
    HEED_TRY(heed_pickle_append(heap, *result, heed_pickle_item(heap, pair, 0),
                                heed_pickle_item(heap, pair, 1), error));
  }
  return HEED_OK;
}

static heed_status make_object(heed_pickle_heap *heap, heed_pickle_kind kind, heed_pickle_id of,
                               heed_pickle_id *result, heed_error *error) {
  HEED_TRY(heed_pickle_make(heap, kind, result, error));
  heap->values[*result].of = of;
  return HEED_OK;
}

/* Whether arguments have a tensor, or what was made of one, in themselves or in their lists: what a
 * call makes of it is perhaps a tensor. `left` bounds the items that are looked at. */
static bool has_tensor(const heed_pickle_heap *heap, heed_pickle_id id, uint32_t depth,
                       uint32_t *left) {
  const heed_pickle_value *value = heed_pickle_get(heap, id);
  if (value->kind == HEED_PICKLE_TENSOR || value->kind == HEED_PICKLE_STORAGE) return true;
  if (value->kind == HEED_PICKLE_OBJECT) return value->tag != 0;
  if (depth == 0 || (value->kind != HEED_PICKLE_TUPLE && value->kind != HEED_PICKLE_LIST))
    return false;
  for (uint32_t cell = value->first; cell && *left > 0; cell = heap->cells[cell].next) {
    --*left;
    if (has_tensor(heap, heap->cells[cell].value, depth - 1, left)) return true;
  }
  return false;
}

/* An object that nothing here is known of. */
static heed_status make_unknown(heed_pickle_heap *heap, heed_pickle_id callable,
                                heed_pickle_id arguments, heed_pickle_id *result,
                                heed_error *error) {
  uint32_t left = MOST_ARGUMENTS;
  const bool of_tensor = has_tensor(heap, arguments, 3, &left);
  HEED_TRY(make_object(heap, HEED_PICKLE_OBJECT, callable, result, error));
  heap->values[*result].tag = of_tensor;
  return HEED_OK;
}

bool heed_pickle_has_dtype(const heed_pickle_heap *heap, heed_pickle_id tensor) {
  return heed_pickle_get(heap, tensor)->tag == TENSOR_OF_DTYPE;
}

heed_status heed_pickle_call(heed_pickle_heap *heap, heed_pickle_id callable,
                             heed_pickle_id arguments, heed_pickle_id *result, heed_error *error) {
  const char *name = heed_pickle_text(heap, callable);
  uint8_t meaning = heed_pickle_get(heap, callable)->tag;
  if (heed_pickle_kind_of(heap, callable) != HEED_PICKLE_GLOBAL)
    meaning = OTHER;
  else if (is_dangerous(name))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: unsafe file (found a call of %.*s, which loading it in Python would run; "
                     "expected weights alone)",
                     heap->where, HEED_CUT(name));
  if (meaning == APPLY) {
    callable = heed_pickle_item(heap, arguments, 0);
    arguments = heed_pickle_item(heap, arguments, 2);
    const bool is_global = heed_pickle_kind_of(heap, callable) == HEED_PICKLE_GLOBAL;
    meaning = is_global ? heed_pickle_get(heap, callable)->tag : OTHER;
  }
  *result = heed_pickle_item(heap, arguments, 0);
  switch (meaning) {
    case TENSOR:
    case TENSOR_OF_DTYPE:
      HEED_TRY(make_object(heap, HEED_PICKLE_TENSOR, arguments, result, error));
      heap->values[*result].tag = meaning;
      return HEED_OK;
    case DICT: return make_dict(heap, *result, result, error);
    case FIRST: return HEED_OK;
    default: return make_unknown(heap, callable, arguments, result, error);
  }
}

heed_status heed_pickle_load(heed_pickle_heap *heap, heed_pickle_id persistent,
                             heed_pickle_id *result, heed_error *error) {
  char found[HEED_PICKLE_DESCRIPTION];
  const char *kind = heed_pickle_text(heap, heed_pickle_item(heap, persistent, 0));
  const heed_pickle_id type = heed_pickle_item(heap, persistent, 1),
                       key = heed_pickle_item(heap, persistent, 2),
                       count = heed_pickle_item(heap, persistent, 4),
                       view = heed_pickle_item(heap, persistent, 5);
  *result = type;
  if (strcmp(kind, "module") == 0) return HEED_OK;
  if (strcmp(kind, "storage") != 0 || heed_pickle_kind_of(heap, key) != HEED_PICKLE_TEXT ||
      heed_pickle_kind_of(heap, count) != HEED_PICKLE_INTEGER)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: damaged pickle (found another persistent id, expected a storage with its "
                     "class, key, place and length)",
                     heap->where);
  if (heed_pickle_kind_of(heap, view) != HEED_PICKLE_NONE)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: storage %.*s is a part of another one (expected a whole one; load and "
                     "save the file with a newer PyTorch)",
                     heap->where, HEED_CUT(heed_pickle_text(heap, key)));
  if (!heed_pickle_dtype_of(heap, type))
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: storage class not supported (found %s, expected one such as "
                     "torch.FloatStorage)",
                     heap->where, heed_pickle_describe(heap, type, found));
  const int64_t elements = heed_pickle_get(heap, count)->number;
  if (elements < 0)
    return heed_fail(error, HEED_INVALID_FILE, "%s: storage %.*s has a negative length",
                     heap->where, HEED_CUT(heed_pickle_text(heap, key)));
  HEED_TRY(make_object(heap, HEED_PICKLE_STORAGE, key, result, error));
  heap->values[*result].tag = heap->values[type].tag;
  heap->values[*result].number = elements;
  return HEED_OK;
}
