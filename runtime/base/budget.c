/* Budgets of work and memory. See budget.h. */
#include "base/budget.h"

#include <inttypes.h>

#include "base/status.h"

uint64_t heed_budget_most(uint64_t least, uint64_t times, uint64_t size) {
  return times && size > (UINT64_MAX - least) / times ? UINT64_MAX : least + times * size;
}

bool heed_budget_spend(heed_budget *budget, uint64_t amount) {
  if (amount > budget->most - budget->spent) {
    budget->refused = true;
    return false;
  }
  budget->spent += amount;
  return true;
}

bool heed_budget_allows(const heed_context *context, uint64_t amount) {
  return !context->budget || heed_budget_spend(context->budget, amount);
}

void heed_budget_return(heed_budget *budget, uint64_t amount) { budget->spent -= amount; }

void heed_budget_open(const heed_context *of, uint64_t size, heed_budget *budget,
                      heed_context *within) {
  *budget = (heed_budget){
      .most = of->most_reading ? of->most_reading
                               : heed_budget_most(HEED_READING_LEAST, HEED_READING_TIMES, size)};
  *within = (heed_context){.allocator = of->allocator,
                           .log = of->log,
                           .log_user = of->log_user,
                           .budget = of->budget ? of->budget : budget,
                           .most_reading = of->most_reading,
                           .share_lock = ATOMIC_FLAG_INIT};
}

heed_status heed_budget_close(heed_budget *budget, heed_context *within, heed_status status,
                              const char *where, heed_error *error) {
  within->budget = NULL;
  if (status != HEED_OUT_OF_MEMORY || !budget->refused) return status;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: reading takes too much memory (expected at most %" PRIu64
                   " bytes for a file of this size)",
                   where, budget->most);
}
