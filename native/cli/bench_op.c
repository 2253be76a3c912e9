/* The graphs of one op that heed bench times, from its options. */
#include "cli/bench_op.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "cli/options.h"

/* "1,12,197,64" -> numbers, each at least 1; returns how many, 0 when it is no such list of at most
 * `most`. */
static uint32_t read_list(const char *text, uint32_t *numbers, uint32_t most) {
  char part[16];
  for (uint32_t i = 0; i < most; i++) {
    const size_t length = strcspn(text, ",");
    if (length >= sizeof part) return 0;
    memcpy(part, text, length);
    part[length] = '\0';
    if (!cli_read_number(part, 1u << 24, &numbers[i]) || numbers[i] == 0) return 0;
    text += length;
    if (*text == '\0') return i + 1;
    text++;
  }
  return 0;
}

heed_status cli_bench_read_tokens(cli_state *cli, const cli_bench_op *op,
                                  uint32_t tokens[CLI_BENCH_MOST_TOKENS], uint32_t *count) {
  *count = 1;
  tokens[0] = 0;
  if (!op->tokens) return HEED_OK;
  *count = read_list(op->tokens, tokens, CLI_BENCH_MOST_TOKENS);
  if (*count && strstr(op->name, "attention")) return HEED_OK;
  return heed_fail(
      &cli->error, HEED_INVALID_ARGUMENT,
      "--tokens: invalid list (found \"%s\", expected up to %d numbers of tokens of an attention)",
      op->tokens, CLI_BENCH_MOST_TOKENS);
}

heed_status cli_bench_read_mode(cli_state *cli, const cli_bench_op *op, heed_attention_mode *mode) {
  static const char *const names[] = {"auto", "resident", "streamed"};
  for (uint32_t i = 0; i < 3; i++)
    if (!op->mode || strcmp(op->mode, names[i]) == 0) {
      *mode = (heed_attention_mode)i;
      return HEED_OK;
    }
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--mode: unknown mode (found \"%s\", expected auto, resident or streamed)",
                   op->mode);
}

/* B, H, Tq, Tk, D of an attention. */
static heed_status read_attention_shape(cli_state *cli, const cli_bench_op *op, uint32_t tokens,
                                        uint32_t n[5]) {
  const char *shape = op->shape ? op->shape : "1,1,1024,1024,64";
  if (read_list(shape, n, 5) != 5)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--shape: invalid attention shape (found \"%s\", expected B,H,Tq,Tk,D)",
                     shape);
  if (tokens) n[2] = n[3] = tokens;
  return HEED_OK;
}

static heed_status read_causal(cli_state *cli, const cli_bench_op *op, heed_causal *causal) {
  *causal = HEED_CAUSAL_NONE;
  if (!op->causal) return HEED_OK;
  *causal = strcmp(op->causal, "top_left") == 0 ? HEED_CAUSAL_TOP_LEFT : HEED_CAUSAL_BOTTOM_RIGHT;
  if (*causal == HEED_CAUSAL_TOP_LEFT || strcmp(op->causal, "bottom_right") == 0) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--causal: unknown rule (found \"%s\", expected top_left or bottom_right)",
                   op->causal);
}

static heed_status define_attention(cli_state *cli, const cli_bench_op *op, uint32_t tokens,
                                    heed_graph *graph, char *what, size_t size) {
  uint32_t n[5];
  HEED_TRY(read_attention_shape(cli, op, tokens, n));
  const heed_shape query = HEED_SHAPE(n[0], n[1], n[2], n[4]),
                   key = HEED_SHAPE(n[0], n[1], n[3], n[4]);
  heed_attention_desc desc = {.struct_size = sizeof desc,
                              .query = heed_define_input(graph, "query", HEED_F32, &query),
                              .key = heed_define_input(graph, "key", HEED_F32, &key),
                              .value = heed_define_input(graph, "value", HEED_F32, &key)};
  HEED_TRY(read_causal(cli, op, &desc.causal));
  desc.window = op->window != 0;
  desc.window_left = desc.window_right = (int32_t)(op->window & 0x7FFFFFFFu);
  const heed_attention_values values = heed_define_attention(graph, &desc);
  heed_graph_output(graph, values.output);
  if (op->maps) heed_graph_output(graph, values.weights);
  char window[32] = "";
  if (op->window) snprintf(window, sizeof window, " window %u", op->window);
  snprintf(what, size, "attention %u,%u,%u,%u,%u%s%s%s%s", n[0], n[1], n[2], n[3], n[4],
           op->causal ? " causal" : "", window, op->maps ? " with weights" : "",
           op->mode ? op->mode[0] == 'r'   ? " resident"
                      : op->mode[0] == 's' ? " streamed"
                                           : ""
                    : "");
  return heed_graph_status(graph, &cli->error);
}

static heed_status define_linear_attention(cli_state *cli, const cli_bench_op *op, uint32_t tokens,
                                           heed_graph *graph, char *what, size_t size) {
  uint32_t n[5];
  heed_causal causal;
  HEED_TRY(read_attention_shape(cli, op, tokens, n));
  HEED_TRY(read_causal(cli, op, &causal));
  const heed_shape query = HEED_SHAPE(n[0], n[1], n[2], n[4]),
                   key = HEED_SHAPE(n[0], n[1], n[3], n[4]);
  const heed_linear_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = heed_define_input(graph, "query", HEED_F32, &query),
      .key = heed_define_input(graph, "key", HEED_F32, &key),
      .value = heed_define_input(graph, "value", HEED_F32, &key),
      .causal = causal != HEED_CAUSAL_NONE};
  heed_graph_output(graph, heed_define_linear_attention(graph, &desc));
  snprintf(what, size, "linear_attention %u,%u,%u,%u,%u%s", n[0], n[1], n[2], n[3], n[4],
           op->causal ? " causal" : "");
  return heed_graph_status(graph, &cli->error);
}

/* Weights of the linear op: a ramp that keeps results small. */
static heed_status read_ramp(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  (void)user;
  (void)error;
  for (uint64_t i = 0; i < count; i++)
    ((float *)to)[i] = (float)((first + i) * 2654435761u % 1024) / 8192.0f - 0.0625f;
  return HEED_OK;
}

static heed_status define_linear(cli_state *cli, const cli_bench_op *op, heed_graph *graph,
                                 char *what, size_t size) {
  uint32_t n[3];
  if (!op->shape || read_list(op->shape, n, 3) != 3)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--shape: invalid linear shape (found \"%s\", expected M,K,N)",
                     op->shape ? op->shape : "");
  const heed_shape x = HEED_SHAPE(n[0], n[1]);
  const heed_constant_desc weight = {sizeof weight, "weight",  HEED_F32, HEED_SHAPE(n[2], n[1]),
                                     NULL,          read_ramp, NULL};
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_define_input(graph, "x", HEED_F32, &x),
                                 .weight = heed_define_constant(graph, &weight)};
  heed_graph_output(graph, heed_define_linear(graph, &desc));
  snprintf(what, size, "linear %s", op->shape);
  return heed_graph_status(graph, &cli->error);
}

/* rows x width, as a transformer's tokens have it. */
static heed_status define_layer_norm(cli_state *cli, const cli_bench_op *op, heed_graph *graph,
                                     char *what, size_t size) {
  uint32_t n[2];
  if (!op->shape || read_list(op->shape, n, 2) != 2)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--shape: invalid layer_norm shape (found \"%s\", expected ROWS,WIDTH)",
                     op->shape ? op->shape : "");
  const heed_shape x = HEED_SHAPE(n[0], n[1]);
  const heed_constant_desc ramp = {sizeof ramp, NULL,      HEED_F32, HEED_SHAPE(n[1]),
                                   NULL,        read_ramp, NULL};
  const heed_layer_norm_desc desc = {.struct_size = sizeof desc,
                                     .x = heed_define_input(graph, "x", HEED_F32, &x),
                                     .gain = heed_define_constant(graph, &ramp),
                                     .bias = heed_define_constant(graph, &ramp),
                                     .epsilon = 1e-6f};
  heed_graph_output(graph, heed_define_layer_norm(graph, &desc));
  snprintf(what, size, "layer_norm %s", op->shape);
  return heed_graph_status(graph, &cli->error);
}

heed_status cli_bench_define(cli_state *cli, const cli_bench_op *op, uint32_t tokens,
                             heed_graph *graph, char *what, size_t size) {
  if (strcmp(op->name, "attention") == 0)
    return define_attention(cli, op, tokens, graph, what, size);
  if (strcmp(op->name, "linear_attention") == 0)
    return define_linear_attention(cli, op, tokens, graph, what, size);
  if (strcmp(op->name, "linear") == 0) return define_linear(cli, op, graph, what, size);
  if (strcmp(op->name, "layer_norm") == 0) return define_layer_norm(cli, op, graph, what, size);
  return heed_fail(
      &cli->error, HEED_INVALID_ARGUMENT,
      "--op: unknown op (found \"%s\", expected attention, linear_attention, linear or layer_norm)",
      op->name);
}
