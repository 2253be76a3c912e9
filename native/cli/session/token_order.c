/* The order of tokens in saved maps. See token_order.h. */
#include "token_order.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/system.h"

char *cli_token_order_text(const int32_t *order, uint32_t count) {
  cli_memory memory;
  if (!cli_memory_open(&memory)) return NULL;
  for (uint32_t i = 0; order && i < count; i++)
    fprintf(memory.file, "%s%d", i ? " " : "", (int)order[i]);
  return cli_memory_close(&memory) ? memory.bytes : NULL;
}

int32_t *cli_token_order_read(const char *text, uint32_t count) {
  int32_t *order = malloc(((size_t)count + 1) * sizeof *order);
  unsigned char *seen = calloc((size_t)count + 1, 1);
  bool right = order && seen;
  for (uint32_t i = 0; right && i < count; i++) {
    const size_t digits = strspn(text, "0123456789");
    const unsigned long token = digits && digits < 9 ? strtoul(text, NULL, 10) : count;
    right = token < count && !seen[token] && text[digits] == (i + 1 < count ? ' ' : '\0');
    if (!right) break;
    seen[token] = 1;
    order[i] = (int32_t)token;
    text += digits + 1;
  }
  free(seen);
  if (right) return order;
  free(order);
  return NULL;
}

void cli_token_order_undo(const int32_t *order, uint32_t count, const float *from, float *to) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count; k++)
      to[(size_t)order[i] * count + (size_t)order[k]] = from[i * count + k];
}

void cli_token_order_do(const int32_t *order, uint32_t count, const float *from, float *to) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count; k++)
      to[i * count + k] = from[(size_t)order[i] * count + (size_t)order[k]];
}
