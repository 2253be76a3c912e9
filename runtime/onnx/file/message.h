/* What an ONNX file says: the messages of ModelProto that heed uses, read once. Weights stay in the
 * file; names, numbers of attributes and small typed lists are copied. */
#ifndef HEED_ONNX_FILE_MESSAGE_H
#define HEED_ONNX_FILE_MESSAGE_H

#include "heed/model.h"
#include "onnx/file/arena.h"

#define HEED_ONNX_MAX_RANK 8
/* Graphs inside attributes of nodes inside graphs. */
#define HEED_ONNX_MAX_DEPTH 16

/* TensorProto.DataType */
typedef enum heed_onnx_type {
  HEED_ONNX_FLOAT = 1,
  HEED_ONNX_UINT8 = 2,
  HEED_ONNX_INT8 = 3,
  HEED_ONNX_UINT16 = 4,
  HEED_ONNX_INT16 = 5,
  HEED_ONNX_INT32 = 6,
  HEED_ONNX_INT64 = 7,
  HEED_ONNX_STRING = 8,
  HEED_ONNX_BOOL = 9,
  HEED_ONNX_FLOAT16 = 10,
  HEED_ONNX_DOUBLE = 11,
  HEED_ONNX_UINT32 = 12,
  HEED_ONNX_UINT64 = 13,
  HEED_ONNX_BFLOAT16 = 16,
  HEED_ONNX_FLOAT8E4M3FN = 17,
  HEED_ONNX_FLOAT8E4M3FNUZ = 18,
  HEED_ONNX_FLOAT8E5M2 = 19,
  HEED_ONNX_FLOAT8E5M2FNUZ = 20,
  HEED_ONNX_UINT4 = 21,
  HEED_ONNX_INT4 = 22,
  HEED_ONNX_FLOAT4E2M1 = 23,
  HEED_ONNX_FLOAT8E8M0 = 24,
  HEED_ONNX_UINT2 = 25,
  HEED_ONNX_INT2 = 26
} heed_onnx_type;

/* "FLOAT16", or "type 17" for others; in `text` of 16 bytes where it is not a name. */
const char *heed_onnx_type_name(uint32_t type, char text[16]);
/* Bits of an element; 0: no type that heed reads. */
uint32_t heed_onnx_type_bits(uint32_t type);
/* Bytes of an element beside others of its kind outside of the file: one of less than 8 bits. */
uint32_t heed_onnx_type_size(uint32_t type);
/* Its name in .safetensors, where less than 8 bits take a byte; NULL: none. */
const char *heed_onnx_type_safetensors(uint32_t type);

typedef struct heed_onnx_tensor {
  const char *name; /* "" where it has none */
  uint32_t type, rank;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  uint64_t count, bytes;           /* elements; bytes as they are stored */
  const unsigned char *bytes_here; /* little-endian; or NULL and */
  const char *location;            /* the external file; NULL: the file itself */
  uint64_t offset;                 /* where they lie there */
} heed_onnx_tensor;

struct heed_onnx_graph;
typedef struct heed_onnx_attribute {
  const char *name;
  uint32_t type; /* 1 f, 2 i, 3 s, 4 t, 5 g, 6 floats, 7 ints; others: not read */
  float f;
  int64_t i;
  const char *s;      /* NUL-terminated */
  const char *refers; /* in a function: the attribute of the call that it stands for; or "" */
  const heed_onnx_tensor *tensor;
  const struct heed_onnx_graph *graph;
  const int64_t *ints; /* [count] */
  const float *floats;
  uint32_t count;
} heed_onnx_attribute;

/* A value of the graph: its place in heed_onnx.makers. 0: what is left out, which has no maker. */
typedef uint32_t heed_onnx_id;

/* Of a node in a branch of an If: it runs where the condition, input 0, has this truth. */
struct heed_onnx_node;
typedef struct heed_onnx_guard {
  const struct heed_onnx_node *branching;
  struct heed_onnx_guard *outer; /* of the If itself; or NULL */
  heed_onnx_id condition;        /* of index.c */
  uint32_t number;               /* of the branch, from 1 on */
  bool truth;
} heed_onnx_guard;

typedef struct heed_onnx_node {
  const char *name, *op, *domain;         /* domain "" for ai.onnx */
  const char *overload;                   /* of several functions of one name; or "" */
  heed_onnx_guard *guard;                 /* NULL: it runs always */
  const char **inputs, **outputs;         /* "" where one is left out */
  const heed_onnx_id *in, *out;           /* the same as values, of index.c */
  const struct heed_onnx_op_entry *known; /* its op, of evaluate.c; NULL: heed has it not */
  const heed_onnx_attribute *attributes;
  uint32_t input_count, output_count, attribute_count;
} heed_onnx_node;

/* An input or output. */
typedef struct heed_onnx_value {
  const char *name;
  heed_onnx_id id; /* of index.c */
  uint32_t type;   /* 0: no tensor */
  bool shaped;
  uint32_t rank;
  int64_t dims[HEED_ONNX_MAX_RANK]; /* -1: open */
} heed_onnx_value;

typedef struct heed_onnx_graph {
  heed_onnx_node *nodes;
  const heed_onnx_tensor *initializers;
  heed_onnx_value *inputs, *outputs;
  uint32_t node_count, initializer_count, input_count, output_count;
} heed_onnx_graph;

typedef struct heed_onnx_opset {
  const char *domain;
  int64_t version;
} heed_onnx_opset;

/* A function of the file: what a node of its name and domain stands for. */
typedef struct heed_onnx_function {
  const char *name, *domain, *overload;
  const char **inputs, **outputs; /* names of its parameters */
  heed_onnx_node *nodes;
  const heed_onnx_attribute *defaults; /* of attributes that a call leaves out */
  const heed_onnx_opset *opsets;
  uint32_t input_count, output_count, node_count, default_count, opset_count;
} heed_onnx_function;

typedef struct heed_onnx_model {
  heed_onnx_graph graph;
  const char *producer, *producer_version;
  const heed_onnx_opset *opsets;
  const heed_onnx_function *functions;
  uint32_t opset_count, function_count;
  int64_t ir_version;
} heed_onnx_model;

/* Reads the messages of a file. Strings and lists are of the arena. Statuses: INVALID_FILE,
 * UNSUPPORTED, OUT_OF_MEMORY, those of the source. */
heed_status heed_onnx_read_model(heed_onnx_arena *arena, const heed_source *source,
                                 const char *where, heed_onnx_model *model, heed_error *error);
/* functions.c: puts bodies of functions where nodes call them. Statuses: INVALID_FILE, UNSUPPORTED
 * (too many, or of another operator set), OUT_OF_MEMORY. */
heed_status heed_onnx_write_out(heed_onnx_arena *arena, const char *where, heed_onnx_model *model,
                                heed_error *error);
/* branches.c: puts the nodes of branches before their If. Statuses: UNSUPPORTED, OUT_OF_MEMORY. */
heed_status heed_onnx_join_branches(heed_onnx_arena *arena, const char *where, heed_onnx_graph *of,
                                    heed_error *error);
/* fused.c: puts what fused nodes of onnxruntime stand for in their place. Statuses: UNSUPPORTED
 * (too many), OUT_OF_MEMORY. */
heed_status heed_onnx_write_fused(heed_onnx_arena *arena, const char *where, heed_onnx_graph *of,
                                  heed_error *error);
bool heed_onnx_is_if(const heed_onnx_node *node);
/* The version of an operator set; 0: the file does not name it. */
int64_t heed_onnx_opset_of(const heed_onnx_model *model, const char *domain);
/* The attribute of a name, or NULL. */
const heed_onnx_attribute *heed_onnx_find_attribute(const heed_onnx_node *node, const char *name);

#endif
