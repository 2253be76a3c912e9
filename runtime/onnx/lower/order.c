/* Which expressions are made, and in which order: as they were found, but that an attention stands
 * before what reads its weights as a value of their own. See lower.h. */
#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

enum { NEW, OPEN, DONE };

typedef struct walk {
  value **stack;  /* [values] */
  uint32_t *next; /* by entry of the stack: the part that is looked at next */
  size_t depth;
  bool cycle;
} walk;

/* Weights that an attention makes are made of it alone. */
static uint32_t part_count(const value *v) { return v->owner ? 1 : v->count; }

static value *part_of(const value *v, uint32_t index) { return v->owner ? v->owner : v->x[index]; }

/* Puts v and all that it is made of behind the order, parts first. */
static void visit(heed_lower *l, walk *w, value *v) {
  if (v->visit != NEW) return;
  v->visit = OPEN;
  w->stack[0] = v;
  w->next[0] = 0;
  for (w->depth = 1; w->depth > 0 && !w->cycle;) {
    value *top = w->stack[w->depth - 1];
    if (w->next[w->depth - 1] == part_count(top)) {
      top->visit = DONE;
      top->at = l->order_count;
      l->order[l->order_count++] = top;
      w->depth--;
      continue;
    }
    value *part = part_of(top, w->next[w->depth - 1]++);
    w->cycle = part->visit == OPEN;
    if (part->visit != NEW) continue;
    part->visit = OPEN;
    w->stack[w->depth] = part;
    w->next[w->depth++] = 0;
  }
}

static void start(heed_lower *l, walk *w) {
  for (size_t i = 0; i < l->value_count; i++) l->values[i]->visit = NEW;
  l->order_count = 0;
  w->cycle = false;
}

/* What the roots need: marked by `needed`. */
static void mark(heed_lower *l, walk *w) {
  start(l, w);
  for (size_t i = 0; i < l->value_count; i++)
    if (l->values[i]->uses) visit(l, w, l->values[i]);
  for (size_t i = 0; i < l->value_count; i++) l->values[i]->needed = l->values[i]->visit != NEW;
}

static void arrange(heed_lower *l, walk *w) {
  mark(l, w);
  if (!w->cycle) start(l, w);
  for (size_t i = 0; i < l->value_count && !w->cycle; i++)
    if (l->values[i]->needed) visit(l, w, l->values[i]);
}

heed_status heed_lower_arrange(heed_lower *l) {
  walk w = {.stack = heed_lower_take(l, l->value_count + 1, sizeof *w.stack),
            .next = heed_lower_take(l, l->value_count + 1, sizeof *w.next)};
  l->order = heed_lower_take(l, l->value_count + 1, sizeof *l->order);
  if (l->status != HEED_OK) return l->status;
  arrange(l, &w);
  if (!w.cycle) return HEED_OK;
  /* what an attention weighs is made of its own weights: those are a softmax beside it */
  for (size_t i = 0; i < l->value_count; i++)
    if (l->values[i]->owner && l->values[i]->x[0] != l->values[i]->owner)
      l->values[i]->owner = NULL;
  arrange(l, &w);
  return HEED_OK;
}
