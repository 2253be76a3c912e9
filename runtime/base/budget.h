/* What may be made of what comes from outside: work and memory have an end, which a constant and
 * some times the size of the input give. It is spent before anything is made.
 *
 * The memory of a reader is counted where it is taken: heed_alloc spends from the budget of its
 * context. So a reader opens with heed_budget_open, takes all from the context that it gets, and
 * ends with heed_budget_close. Readers inside of one spend from the same budget. */
#ifndef HEED_BASE_BUDGET_H
#define HEED_BASE_BUDGET_H

#include "base/context.h"

/* Bytes that reading may take in all, beside what the caller allows in heed_context_desc. */
#define HEED_READING_LEAST (UINT64_C(64) << 20)
#define HEED_READING_TIMES 8

struct heed_budget {
  uint64_t most, spent;
  bool refused; /* something was not made */
};

/* least + times * size, at most UINT64_MAX. */
uint64_t heed_budget_most(uint64_t least, uint64_t times, uint64_t size);
/* False, and nothing is spent, where less is left. */
bool heed_budget_spend(heed_budget *budget, uint64_t amount);
/* The same of the budget of a context, where it has one: of work. Memory is counted by heed_alloc.
 */
bool heed_budget_allows(const heed_context *context, uint64_t amount);
/* What was spent is there again. */
void heed_budget_return(heed_budget *budget, uint64_t amount);

/* *within is the context `of`, with a budget for an input of `size` bytes. Where `of` has one, that
 * stays. Only memory and the log are of it: nothing is shared through it. */
void heed_budget_open(const heed_context *of, uint64_t size, heed_budget *budget,
                      heed_context *within);
/* Memory of the context is no longer counted. The status of the reader; where the budget refused
 * it memory, UNSUPPORTED with a sentence. */
heed_status heed_budget_close(heed_budget *budget, heed_context *within, heed_status status,
                              const char *where, heed_error *error);

#endif
