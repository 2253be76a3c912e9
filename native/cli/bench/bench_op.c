/* The graphs of one op that heed bench times (heed/check.h), from its options. */
#include "bench_op.h"

#include <stdlib.h>
#include <string.h>

#include "heed/check.h"
#include "terminal/options.h"

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

static const heed_bench_op *find_op(const char *name) {
  const heed_bench_op *op;
  for (uint32_t i = 0; (op = heed_bench_get_op(i)); i++)
    if (strcmp(op->name, name) == 0) return op;
  return NULL;
}

/* INVALID_ARGUMENT with the names of all ops. */
static heed_status fail_op(cli_state *cli, const char *name) {
  char names[256] = "";
  size_t used = 0;
  const heed_bench_op *op;
  for (uint32_t i = 0; (op = heed_bench_get_op(i)) && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", op->name);
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--op: unknown op (found \"%s\", expected one of %s)", name, names);
}

heed_status cli_bench_read_tokens(cli_state *cli, const cli_bench_op *op,
                                  uint32_t tokens[CLI_BENCH_MOST_TOKENS], uint32_t *count) {
  *count = 1;
  tokens[0] = 0;
  const heed_bench_op *known = find_op(op->name);
  if (!known) return fail_op(cli, op->name);
  if (!op->tokens) return HEED_OK;
  *count = read_list(op->tokens, tokens, CLI_BENCH_MOST_TOKENS);
  if (*count && known->options & HEED_BENCH_TOKENS) return HEED_OK;
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

static heed_status read_causal(cli_state *cli, const cli_bench_op *op, heed_causal *causal) {
  *causal = HEED_CAUSAL_NONE;
  if (!op->causal) return HEED_OK;
  *causal = strcmp(op->causal, "top_left") == 0 ? HEED_CAUSAL_TOP_LEFT : HEED_CAUSAL_BOTTOM_RIGHT;
  if (*causal == HEED_CAUSAL_TOP_LEFT || strcmp(op->causal, "bottom_right") == 0) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--causal: unknown rule (found \"%s\", expected top_left or bottom_right)",
                   op->causal);
}

/* "attention 1,1,32,32,8 causal": the op, its shape and the options that it takes. */
static void describe(const cli_bench_op *op, const heed_bench_op *known,
                     const heed_bench_shape *shape, char *what, size_t size) {
  char axes[80] = "", window[32] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < known->axis_count; i++)
    used += (size_t)snprintf(axes + used, sizeof axes - used, "%s%u", i ? "," : "", shape->axis[i]);
  if (known->options & HEED_BENCH_WINDOW && op->window)
    snprintf(window, sizeof window, " window %u", op->window);
  const bool causal = known->options & HEED_BENCH_CAUSAL && op->causal,
             weights = known->options & HEED_BENCH_WEIGHTS && op->maps,
             mode = known->options & HEED_BENCH_MODE && op->mode && strcmp(op->mode, "auto") != 0;
  snprintf(what, size, "%s %s%s%s%s%s%s", known->name, axes, causal ? " causal" : "", window,
           weights ? " with weights" : "", mode ? " " : "", mode ? op->mode : "");
}

heed_status cli_bench_define(cli_state *cli, const cli_bench_op *op, uint32_t tokens,
                             heed_graph *graph, char *what, size_t size) {
  const heed_bench_op *known = find_op(op->name);
  if (!known) return fail_op(cli, op->name);
  const char *text = op->shape ? op->shape : known->shape ? known->shape : "";
  heed_bench_shape shape = {.window = op->window, .weights = op->maps};
  if (read_list(text, shape.axis, HEED_BENCH_MOST_AXES) != known->axis_count)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--shape: invalid %s shape (found \"%s\", expected %s)", known->name, text,
                     known->axes);
  if (tokens) shape.axis[2] = shape.axis[3] = tokens;
  CLI_TRY(read_causal(cli, op, &shape.causal));
  describe(op, known, &shape, what, size);
  return heed_bench_define(graph, known, &shape, &cli->error);
}
