/* Fused nodes, as onnxruntime's optimiser and quantiser make them, written out: each becomes the
 * nodes that it stands for, so that it has their meaning in double and their kernels. A node that
 * no form fits stays as it is. Meanings: onnxruntime, docs/ContribOperators.md. See message.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/message_parts.h"

#define MOST_NAMES 48 /* of a form: inputs, outputs and what its nodes give */
#define MOST_PART 64  /* bytes of a word of a body */

#define MICROSOFT "com.microsoft"

typedef struct form {
  const char *op, *domain, *inputs, *outputs;
  /* what it may have, "name" or "name=value"; one that must not be 0 must be there */
  const char *attributes;
  const char *needs; /* inputs that must be there, beside those that its nodes need */
  /* "Op in,in out,out name=value @name;...": attributes with their value, or that of the fused
   * node. An input "i:3" is [3], "f:alpha" the number of an attribute. Before an op:
   *   ?      where its last input is left out, it gives its first
   *   !      where an input is left out, it gives nothing
   *   [name] where this attribute is not there, or as if it were not, it gives its first input
   * The op "*" is what the attribute activation names. */
  const char *body;
} form;

#define ACTIVATION "|activation|activation_alpha|activation_beta|activation_gamma|activation_params"
#define SUM_OF_SCALED "Cast t f to=1;Mul f,s m;?Add m,bias y"
#define GEMM(axis, turn)                                                                 \
  "DequantizeLinear a,as,az af;DequantizeLinear b,bs,bz bf axis=" axis ";Mul as,bs s;"   \
  "!Cast c cf to=1;!Mul cf,s cs;Gemm af,bf,cs g @transA" turn ";[alpha]Mul g,f:alpha m;" \
  "?QuantizeLinear m,ys,yz y"
#define OF_TWO(op)                                                                                 \
  "DequantizeLinear a,as,az af;DequantizeLinear b,bs,bz bf;" op " af,bf m;QuantizeLinear m,ys,yz " \
  "y"
#define EMBED_INPUTS "ids,segments,word,places,segment,gamma,beta,mask,at"
#define OF_EMBED "y,lengths,sum"
#define EMBED_ATTRIBUTES "epsilon|mask_index_type=0"
#define PLACES "Shape ids n;Slice n,i:1,i:2 t;Slice places,i:0,t,i:0 p;"
#define PLACES_AT "Gather places,at p;"
#define EMBEDDED                                                         \
  "Gather word,ids w;!Gather segment,segments g;Add w,p e;?Add e,g sum;" \
  "LayerNormalization sum,gamma,beta y @epsilon"
#define LENGTHS ";Einsum mask lengths equation=ij->i"
/* onnxruntime says 0 of each item then */
#define NO_LENGTHS ";Sub ids,ids none;Einsum none lengths equation=ij->i"

static const form forms[] = {
    {"DynamicQuantizeMatMul", MICROSOFT, "a,b,bs,bz,bias", "y", "", "",
     "DynamicQuantizeLinear a q,qs,qz;MatMulInteger q,b,qz,bz t;Mul qs,bs s;" SUM_OF_SCALED},
    {"EmbedLayerNormalization", MICROSOFT, EMBED_INPUTS, OF_EMBED, EMBED_ATTRIBUTES, "mask|at",
     PLACES_AT EMBEDDED LENGTHS},
    {"EmbedLayerNormalization", MICROSOFT, EMBED_INPUTS, OF_EMBED, EMBED_ATTRIBUTES, "mask",
     PLACES EMBEDDED LENGTHS},
    {"EmbedLayerNormalization", MICROSOFT, EMBED_INPUTS, OF_EMBED, EMBED_ATTRIBUTES, "at",
     PLACES_AT EMBEDDED NO_LENGTHS},
    {"EmbedLayerNormalization", MICROSOFT, EMBED_INPUTS, OF_EMBED, EMBED_ATTRIBUTES, "",
     PLACES EMBEDDED NO_LENGTHS},
    {"FusedConv", MICROSOFT, "x,w,b,z", "y",
     "auto_pad|dilations|group|kernel_shape|pads|strides" ACTIVATION, "",
     "Conv x,w,b c @auto_pad @dilations @group @kernel_shape @pads @strides;?Add c,z s;* s y"},
    {"FusedGemm", MICROSOFT, "a,b,c", "y", "alpha|beta|transA|transB" ACTIVATION, "",
     "Gemm a,b,c g @alpha @beta @transA @transB;* g y"},
    {"FusedMatMul", MICROSOFT, "a,b", "y", "alpha|transA|transB|transBatchA=0|transBatchB=0", "",
     "[transA]Einsum a ta equation=...ij->...ji;[transB]Einsum b tb equation=...ij->...ji;"
     "MatMul ta,tb m;[alpha]Mul m,f:alpha y"},
    {"MatMulIntegerToFloat", MICROSOFT, "a,b,as,bs,az,bz,bias", "y", "", "",
     "MatMulInteger a,b,az,bz t;Mul as,bs s;" SUM_OF_SCALED},
    {"QAttention", MICROSOFT, "x,w,bias,xs,ws,mask,xz,wz,past", "y,present",
     "do_rotary=0|mask_filter_value|num_heads|past_present_share_buffer=0|scale|unidirectional", "",
     "DequantizeLinear x,xs,xz xf;DequantizeLinear w,ws,wz wf;" MICROSOFT
     ".Attention xf,wf,bias,mask,past y,present @mask_filter_value @num_heads @scale "
     "@unidirectional"},
    {"QGemm", MICROSOFT, "a,as,az,b,bs,bz,c,ys,yz", "y", "alpha|transA|transB=0", "",
     GEMM("1", "")},
    {"QGemm", MICROSOFT, "a,as,az,b,bs,bz,c,ys,yz", "y", "alpha|transA|transB=1", "",
     GEMM("0", " transB=1")},
    {"QLinearAdd", MICROSOFT, "a,as,az,b,bs,bz,ys,yz", "y", "", "", OF_TWO("Add")},
    {"QLinearConv", "", "x,xs,xz,w,ws,wz,ys,yz,b", "y",
     "auto_pad|dilations|group|kernel_shape|pads|strides", "",
     "DequantizeLinear x,xs,xz xf;DequantizeLinear w,ws,wz wf axis=0;Mul xs,ws s;!Cast b bf to=1;"
     "!Mul bf,s c;Conv xf,wf,c m @auto_pad @dilations @group @kernel_shape @pads @strides;"
     "QuantizeLinear m,ys,yz y"},
    {"QLinearGlobalAveragePool", MICROSOFT, "x,xs,xz,ys,yz", "y", "channels_last=0", "",
     "DequantizeLinear x,xs,xz f;GlobalAveragePool f m;QuantizeLinear m,ys,yz y"},
    {"QLinearLeakyRelu", MICROSOFT, "x,xs,xz,ys,yz", "y", "alpha", "",
     "DequantizeLinear x,xs,xz f;LeakyRelu f m @alpha;QuantizeLinear m,ys,yz y"},
    {"QLinearMatMul", "", "a,as,az,b,bs,bz,ys,yz", "y", "", "", OF_TWO("MatMul")},
    {"QLinearMul", MICROSOFT, "a,as,az,b,bs,bz,ys,yz", "y", "", "", OF_TWO("Mul")},
    {"QLinearSigmoid", MICROSOFT, "x,xs,xz,ys,yz", "y", "", "",
     "DequantizeLinear x,xs,xz f;Sigmoid f m;QuantizeLinear m,ys,yz y"},
    {"TransposeMatMul", MICROSOFT, "a,b", "y", "alpha|transA|transB", "",
     "[transA]Einsum a ta equation=...ij->...ji;[transB]Einsum b tb equation=...ij->...ji;"
     "MatMul ta,tb m;[alpha]Mul m,f:alpha y"}};

/* A name of a body, and what it is called in the graph; "" where it is left out. */
typedef struct symbol {
  char name[MOST_PART];
  const char *value;
} symbol;

typedef struct writer {
  heed_onnx_arena *arena;
  const char *where;
  const heed_onnx_node *call;
  const form *form;
  heed_onnx_node *nodes;
  uint32_t count, room, names;
  symbol symbols[MOST_NAMES];
  uint32_t symbol_count;
  heed_error *error;
} writer;

static heed_status take(writer *w, uint64_t count, size_t size, void *to) {
  void *taken = heed_onnx_take(w->arena, count, size);
  memcpy(to, &taken, sizeof taken);
  return taken ? HEED_OK : heed_fail_memory(w->error, w->where, (size_t)(count * size));
}

/* --------------------------------------------------------------------------------------- words */

/* The next word of *at before one of `ends`, behind which *at stands then; false: there is none. */
static bool next_word(const char **at, const char *ends, char word[MOST_PART]) {
  if (!*at) return false;
  const size_t length = strcspn(*at, ends);
  snprintf(word, MOST_PART, "%.*s", (int)length, *at);
  *at = (*at)[length] ? *at + length + 1 : NULL;
  return true;
}

/* How many words there are. */
static uint32_t count_words(const char *of) {
  uint32_t count = *of != '\0';
  for (; *of; of++) count += *of == ',';
  return count;
}

/* ---------------------------------------------------------------------------------------- forms */

/* What an attribute must be that is read here; 0: what it becomes says it. */
static uint32_t type_of(const char *attribute) {
  if (heed_list_has("alpha|activation_alpha|activation_beta", attribute)) return 1;
  if (heed_list_has("transA|transB|transBatchA|transBatchB", attribute)) return 2;
  if (strcmp(attribute, "activation") == 0) return 3;
  return strcmp(attribute, "activation_params") == 0 ? 6 : 0;
}

/* Whether a form takes the attribute: "name", or "name=value". */
static bool takes_attribute(const form *f, const heed_onnx_attribute *given) {
  char word[MOST_PART];
  const uint32_t type = type_of(given->name);
  if (type && type != given->type) return false;
  for (const char *at = f->attributes; next_word(&at, "|", word);) {
    char *value = strchr(word, '=');
    if (value) *value++ = '\0';
    if (strcmp(word, given->name) == 0) return !value || given->i == strtol(value, NULL, 10);
  }
  return false;
}

static bool has_needed(const form *f, const heed_onnx_node *call) {
  char word[MOST_PART];
  for (const char *at = f->attributes; next_word(&at, "|", word);) {
    char *value = strchr(word, '=');
    if (!value || strcmp(value, "=0") == 0) continue;
    *value = '\0';
    if (!heed_onnx_find_attribute(call, word)) return false;
  }
  uint32_t i = 0;
  for (const char *at = f->inputs; next_word(&at, ",", word); i++)
    if (heed_list_has(f->needs, word) && (i >= call->input_count || !*call->inputs[i]))
      return false;
  return true;
}

static bool knows_activation(const heed_onnx_node *call) {
  static const char *const known[] = {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid"};
  const heed_onnx_attribute *activation = heed_onnx_find_attribute(call, "activation");
  if (!activation) return true;
  for (size_t i = 0; activation->s && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i], activation->s) == 0) return true;
  return false;
}

static const form *form_of(const heed_onnx_node *call) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const form *f = &forms[i];
    if (strcmp(f->op, call->op) != 0 || strcmp(f->domain, call->domain) != 0) continue;
    bool fits = call->input_count <= count_words(f->inputs) &&
                call->output_count <= count_words(f->outputs) && has_needed(f, call) &&
                knows_activation(call);
    for (uint32_t k = 0; fits && k < call->attribute_count; k++)
      fits = takes_attribute(f, &call->attributes[k]);
    if (fits) return f;
  }
  return NULL;
}

/* --------------------------------------------------------------------------------------- names */

static symbol *symbol_of(writer *w, const char *name) {
  for (uint32_t i = 0; i < w->symbol_count; i++)
    if (strcmp(w->symbols[i].name, name) == 0) return &w->symbols[i];
  return NULL;
}

static void set_symbol(writer *w, const char *name, const char *value) {
  symbol *to = symbol_of(w, name);
  if (!to && w->symbol_count == MOST_NAMES) return; /* no form has so many */
  if (!to) to = &w->symbols[w->symbol_count++];
  snprintf(to->name, sizeof to->name, "%s", name);
  to->value = value;
}

/* "NODE/part#7", or "OP/part#7" of a node without a name. */
static heed_status compose(writer *w, const char *part, const char **to) {
  const char *scope = *w->call->name ? w->call->name : w->call->op;
  const size_t size = strlen(scope) + strlen(part) + sizeof "#4294967295/";
  char *made;
  HEED_TRY(take(w, size, 1, &made));
  snprintf(made, size, "%s/%s#%" PRIu32, scope, part, w->names++);
  *to = made;
  return HEED_OK;
}

/* What a node of the body gives: an output of the fused node, or a name of its own. */
static heed_status output_name(writer *w, const char *name, const char **to) {
  char word[MOST_PART];
  uint32_t i = 0;
  for (const char *at = w->form->outputs; next_word(&at, ",", word); i++) {
    if (strcmp(word, name) != 0) continue;
    *to = i < w->call->output_count ? w->call->outputs[i] : "";
    if (**to) return HEED_OK;
  }
  return compose(w, name, to);
}

static bool is_output(const writer *w, const char *value) {
  for (uint32_t i = 0; i < w->call->output_count; i++)
    if (strcmp(w->call->outputs[i], value) == 0) return *value != '\0';
  return false;
}

/* --------------------------------------------------------------------------------------- nodes */

static heed_status append(writer *w, const heed_onnx_node *node) {
  if (w->count == w->room) {
    heed_onnx_node *nodes;
    const uint32_t room = 2 * w->room;
    HEED_TRY(take(w, room, sizeof *nodes, &nodes));
    memcpy(nodes, w->nodes, w->count * sizeof *nodes);
    w->nodes = nodes;
    w->room = room;
  }
  w->nodes[w->count++] = *node;
  return HEED_OK;
}

/* A node with room for so many names, called after its op. */
static heed_status begin_node(writer *w, const char *op, uint32_t inputs, uint32_t outputs,
                              heed_onnx_node *node) {
  const char *dot = strrchr(op, '.');
  char *kept;
  *node = (heed_onnx_node){.domain = dot ? MICROSOFT : "", .overload = "", .guard = w->call->guard};
  if (dot) op = dot + 1;
  HEED_TRY(take(w, strlen(op) + 1, 1, &kept));
  strcpy(kept, op);
  node->op = kept;
  HEED_TRY(compose(w, op, &node->name));
  HEED_TRY(take(w, inputs + 1u, sizeof *node->inputs, &node->inputs));
  return take(w, outputs + 1u, sizeof *node->outputs, &node->outputs);
}

/* A Constant: "i:3" is I64 [1], "f:alpha" the float of the call's attribute. */
static heed_status add_constant(writer *w, const char *word, const char **name) {
  heed_onnx_node node;
  heed_onnx_tensor *tensor;
  heed_onnx_attribute *value;
  unsigned char *bytes;
  const bool whole = word[0] == 'i';
  const int64_t number = whole ? strtol(word + 2, NULL, 10) : 0;
  const heed_onnx_attribute *given = whole ? NULL : heed_onnx_find_attribute(w->call, word + 2);
  HEED_TRY(begin_node(w, "Constant", 0, 1, &node));
  HEED_TRY(compose(w, word, &node.outputs[0]));
  HEED_TRY(take(w, 1, sizeof *tensor, &tensor));
  HEED_TRY(take(w, 1, sizeof *value, &value));
  HEED_TRY(take(w, 8, 1, &bytes));
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)number >> 8 * i & 255);
  if (given) memcpy(bytes, &given->f, sizeof given->f);
  *tensor = (heed_onnx_tensor){.name = "",
                               .type = whole ? HEED_ONNX_INT64 : HEED_ONNX_FLOAT,
                               .rank = whole,
                               .dims = {1},
                               .count = 1,
                               .bytes = whole ? 8 : 4,
                               .bytes_here = bytes};
  *value =
      (heed_onnx_attribute){.name = "value", .type = 4, .s = "", .refers = "", .tensor = tensor};
  node.attributes = value;
  node.attribute_count = node.output_count = 1;
  *name = node.outputs[0];
  return append(w, &node);
}

static heed_status read_inputs(writer *w, const char *list, heed_onnx_node *node) {
  char word[MOST_PART];
  for (const char *at = list; next_word(&at, ",", word); node->input_count++) {
    const char **to = &node->inputs[node->input_count];
    const symbol *found = symbol_of(w, word);
    *to = found ? found->value : "";
    if (!found && word[1] == ':') HEED_TRY(add_constant(w, word, to));
  }
  return HEED_OK;
}

/* "name=value" or "@name". */
static heed_status add_attribute(writer *w, char *word, heed_onnx_node *node,
                                 heed_onnx_attribute *attributes) {
  heed_onnx_attribute *to = &attributes[node->attribute_count];
  const heed_onnx_attribute *given;
  char *value = strchr(word, '='), *kept;
  if (*word == '@') {
    given = heed_onnx_find_attribute(w->call, word + 1);
    if (!given) return HEED_OK;
    *to = *given;
    node->attribute_count++;
    return HEED_OK;
  }
  *value++ = '\0';
  HEED_TRY(take(w, strlen(word) + strlen(value) + 2, 1, &kept));
  strcpy(kept, word);
  strcpy(kept + strlen(word) + 1, value);
  const bool whole = *value >= '0' && *value <= '9';
  *to = (heed_onnx_attribute){.name = kept,
                              .type = whole ? 2 : 3,
                              .i = whole ? strtol(value, NULL, 10) : 0,
                              .s = kept + strlen(word) + 1,
                              .refers = ""};
  node->attribute_count++;
  return HEED_OK;
}

/* alpha and beta of the activation, by their own names or as a list. */
static heed_status add_activation(writer *w, heed_onnx_node *node) {
  static const char *const names[] = {"alpha", "beta"}, *const own[] = {"activation_alpha",
                                                                        "activation_beta"};
  const heed_onnx_attribute *list = heed_onnx_find_attribute(w->call, "activation_params");
  const bool numbers = strcmp(node->op, "LeakyRelu") == 0 || strcmp(node->op, "HardSigmoid") == 0;
  heed_onnx_attribute *attributes;
  HEED_TRY(take(w, 2, sizeof *attributes, &attributes));
  node->attributes = attributes;
  for (uint32_t i = 0; numbers && i < (strcmp(node->op, "LeakyRelu") == 0 ? 1u : 2u); i++) {
    const heed_onnx_attribute *given = heed_onnx_find_attribute(w->call, own[i]);
    const bool listed = list && list->floats && i < list->count;
    if (!given && !listed) continue;
    attributes[node->attribute_count++] =
        (heed_onnx_attribute){.name = names[i],
                              .type = 1,
                              .f = given ? given->f : list->floats[i],
                              .s = "",
                              .refers = ""};
  }
  return HEED_OK;
}

/* The name of a value for another; of an output of the fused node a copy. */
static heed_status alias(writer *w, const char *value, const char *name) {
  const char *output;
  heed_onnx_node copy;
  HEED_TRY(output_name(w, name, &output));
  if (!*value || !is_output(w, output)) {
    set_symbol(w, name, value);
    return HEED_OK;
  }
  HEED_TRY(begin_node(w, "Identity", 1, 1, &copy));
  copy.inputs[0] = value;
  copy.outputs[0] = output;
  copy.input_count = copy.output_count = 1;
  set_symbol(w, name, output);
  return append(w, &copy);
}

/* Whether the call has the attribute, and otherwise than as if it had not. */
static bool is_set(const writer *w, const char *name) {
  const heed_onnx_attribute *given = heed_onnx_find_attribute(w->call, name);
  return given && (given->type == 1 ? given->f != 1.0f : given->i != 0);
}

/* Takes the mark before an op away. Sets *skip where the op gives its first input alone, and
 * *nothing where it gives nothing. */
static void read_mark(const writer *w, const char **op, const heed_onnx_node *node, bool *skip,
                      bool *nothing) {
  char name[MOST_PART];
  const char *at = *op;
  *skip = *nothing = false;
  if (*at == '?') {
    *skip = !*node->inputs[node->input_count - 1];
    *op = at + 1;
  } else if (*at == '!') {
    for (uint32_t i = 0; i < node->input_count; i++) *nothing |= !*node->inputs[i];
    *op = at + 1;
  } else if (*at == '[') {
    next_word(&at, "]", name);
    *skip = !is_set(w, name + 1);
    *op = at;
  }
}

/* One node of the body: "Op inputs outputs attributes". */
static heed_status write_node(writer *w, const char *text) {
  char words[3][MOST_PART], word[MOST_PART];
  heed_onnx_node node, inputs = {0};
  heed_onnx_attribute *attributes;
  const char *at = text, *op = words[0];
  bool skip, nothing;
  for (int i = 0; i < 3; i++) next_word(&at, " ", words[i]);
  HEED_TRY(take(w, count_words(words[1]) + 1u, sizeof *inputs.inputs, &inputs.inputs));
  HEED_TRY(read_inputs(w, words[1], &inputs));
  read_mark(w, &op, &inputs, &skip, &nothing);
  const heed_onnx_attribute *activation = heed_onnx_find_attribute(w->call, "activation");
  if (*op == '*') {
    skip = !activation;
    op = activation ? activation->s : op;
  }
  if (skip || nothing) return alias(w, nothing ? "" : inputs.inputs[0], words[2]);
  HEED_TRY(begin_node(w, op, 0, count_words(words[2]), &node));
  node.inputs = inputs.inputs;
  node.input_count = inputs.input_count;
  while (node.input_count && !*node.inputs[node.input_count - 1]) node.input_count--;
  HEED_TRY(take(w, 8, sizeof *attributes, &attributes));
  node.attributes = attributes;
  while (next_word(&at, " ", word)) HEED_TRY(add_attribute(w, word, &node, attributes));
  if (words[0][0] == '*') HEED_TRY(add_activation(w, &node));
  for (const char *outputs = words[2]; next_word(&outputs, ",", word); node.output_count++) {
    HEED_TRY(output_name(w, word, &node.outputs[node.output_count]));
    set_symbol(w, word, node.outputs[node.output_count]);
  }
  return append(w, &node);
}

static heed_status write_form(writer *w) {
  char word[MOST_PART], text[256];
  uint32_t i = 0;
  w->symbol_count = 0;
  for (const char *at = w->form->inputs; next_word(&at, ",", word); i++)
    set_symbol(w, word, i < w->call->input_count ? w->call->inputs[i] : "");
  for (const char *at = w->form->body; at;) {
    const size_t length = strcspn(at, ";");
    snprintf(text, sizeof text, "%.*s", (int)length, at);
    HEED_TRY(write_node(w, text));
    at = at[length] ? at + length + 1 : NULL;
  }
  return HEED_OK;
}

heed_status heed_onnx_write_fused(heed_onnx_arena *arena, const char *where, heed_onnx_graph *of,
                                  heed_error *error) {
  writer w = {.arena = arena, .where = where, .error = error};
  uint32_t first = 0;
  while (first < of->node_count && !form_of(&of->nodes[first])) first++;
  if (first == of->node_count) return HEED_OK;
  w.room = of->node_count + 16;
  w.nodes = heed_onnx_take(arena, w.room, sizeof *w.nodes);
  if (!w.nodes) return heed_fail_memory(error, where, w.room * sizeof *w.nodes);
  for (uint32_t i = 0; i < of->node_count; i++) {
    w.call = &of->nodes[i];
    w.form = form_of(w.call);
    HEED_TRY(w.form ? write_form(&w) : append(&w, w.call));
  }
  of->nodes = w.nodes;
  of->node_count = w.count;
  return HEED_OK;
}
