/* The graphs of one op that heed bench times, from its options. */
#ifndef HEED_CLI_BENCH_BENCH_OP_H
#define HEED_CLI_BENCH_BENCH_OP_H

#include "terminal/cli.h"

typedef struct cli_bench_op {
  /* as on the command line; NULL where not given */
  const char *name, *shape, *tokens, *causal, *mode;
  uint32_t window;
  bool maps;
} cli_bench_op;

#define CLI_BENCH_MOST_TOKENS 16

/* The numbers of tokens to run with; one 0, the shape's own, when none were given. */
heed_status cli_bench_read_tokens(cli_state *cli, const cli_bench_op *op,
                                  uint32_t tokens[CLI_BENCH_MOST_TOKENS], uint32_t *count);
heed_status cli_bench_read_mode(cli_state *cli, const cli_bench_op *op, heed_attention_mode *mode);
/* Defines the op with so many tokens (0: as the shape has them) and says in `what` what it is. */
heed_status cli_bench_define(cli_state *cli, const cli_bench_op *op, uint32_t tokens,
                             heed_graph *graph, char *what, size_t size);

#endif
