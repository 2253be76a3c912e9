/* Words for a picture whose patches show next to nothing, by the rule of colour_rule.h. See heed.h;
 * web/plot/caption.js has the pages' words by the same rule, in their languages. */
#include <string.h>

#include "base/number_text.h"
#include "explain/colour_rule.h"
#include "heed/explain.h"

/* The tokens that have words: those of the prefix, then the query where it is none of them. */
typedef struct holders {
  const float *row;
  uint32_t prefix, token;
} holders;

static uint32_t count_of(const holders *h) { return h->prefix + (h->token >= h->prefix); }
static double weight_of(const holders *h, uint32_t i) {
  return (double)h->row[i < h->prefix ? i : h->token];
}

/* Of those after holder `last`, larger weights first, then smaller indices, the next; count_of when
 * there is none. last = count_of begins.
 */
static uint32_t next_of(const holders *h, uint32_t last) {
  const uint32_t count = count_of(h);
  uint32_t best = count;
  for (uint32_t i = 0; i < count; i++) {
    const double weight = weight_of(h, i);
    const bool after =
        last == count || weight < weight_of(h, last) || (weight == weight_of(h, last) && i > last);
    if (after && (best == count || weight > weight_of(h, best))) best = i;
  }
  return best;
}

static void add_share(char *text, double share, const char *to) {
  char digits[HEED_TEXT_NUMBER_SIZE];
  if (*text) strcat(text, ", ");
  strcat(strcat(strcat(text, heed_text_number(share * 100.0, 1, digits)), " % "), to);
}

const char *heed_map_elsewhere(const float *row, uint32_t n, uint32_t prefix,
                               const char *const *names, uint32_t token, heed_row_kind kind,
                               char text[HEED_MAP_ELSEWHERE_SIZE]) {
  const holders h = {row, prefix, token};
  const char *to = kind == HEED_ROW_ATTENTION ? "on " : "from ";
  double total = 0.0, held = 0.0;
  text[0] = '\0';
  for (uint32_t i = 0; i < n; i++) total += (double)row[i];
  for (uint32_t i = 0; i < count_of(&h); i++) held += weight_of(&h, i);
  if (total == 0.0) return strcat(strcat(strcpy(text, "no weight "), to), "any token");
  if (kind == HEED_ROW_COLUMN || !heed_row_is_elsewhere(total, held)) return text;
  for (uint32_t i = next_of(&h, count_of(&h));
       i < count_of(&h) && heed_holder_is_named(total, weight_of(&h, i)); i = next_of(&h, i)) {
    add_share(text, weight_of(&h, i) / total, to);
    strcat(text, i == prefix ? "itself" : names[i]);
  }
  if (*text) return text;
  add_share(text, held / total, to);
  return strcat(text, "CLS and registers");
}
