/* The order of tokens in saved maps. See token_order.h. */
#define _POSIX_C_SOURCE 200809L
#include "token_order.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *cli_token_order_text(const int32_t *order, uint32_t count) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (!to) return NULL;
  for (uint32_t i = 0; order && i < count; i++) fprintf(to, "%s%d", i ? " " : "", (int)order[i]);
  if (fclose(to) == 0) return text;
  free(text);
  return NULL;
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
