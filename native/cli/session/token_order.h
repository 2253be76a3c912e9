/* The order of tokens of an ONNX graph that is not heed's: CLS and its like first, then the patches
 * row by row. Saved maps have the graph's, and say it in their metadata. */
#ifndef HEED_CLI_SESSION_TOKEN_ORDER_H
#define HEED_CLI_SESSION_TOKEN_ORDER_H

#include <stdint.h>

#define CLI_TOKEN_ORDER "tokens" /* metadata: "0 17 18 1 2": where each of heed's tokens lies */

/* The metadata, malloc'ed; "" without an order; NULL without memory. */
char *cli_token_order_text(const int32_t *order, uint32_t count);
/* The order of a text, malloc'ed [count]; NULL without memory, and where it does not name each
 * token once. */
int32_t *cli_token_order_read(const char *text, uint32_t count);
/* A map [count, count] in heed's order put into the graph's; and back. */
void cli_token_order_undo(const int32_t *order, uint32_t count, const float *from, float *to);
void cli_token_order_do(const int32_t *order, uint32_t count, const float *from, float *to);

#endif
