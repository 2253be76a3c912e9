/* The CPU backend: which levels were built, which of them this machine can run, and the vtable. */
#include "cpu/cpu_backend.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "cpu/machine.h"

/* The build writes the list of the levels that it compiled, best first: HEED_LEVEL(TABLE, NEEDS),
 * heed_cpu_level_TABLE where heed_cpu_has_NEEDS. */
#define HEED_LEVEL(table, needs) extern const heed_cpu_level_table heed_cpu_level_##table;
#include "cpu/level_list.h"
#undef HEED_LEVEL

static const struct {
  const heed_cpu_level_table *table;
  bool (*usable)(void);
} levels[] = {
#define HEED_LEVEL(table, needs) {&heed_cpu_level_##table, heed_cpu_has_##needs},
#include "cpu/level_list.h"
#undef HEED_LEVEL
};

static const heed_cpu_level_table *usable_level(uint32_t index) {
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (!levels[i].table->by_name && levels[i].usable() && index-- == 0) return levels[i].table;
  return NULL;
}

const char *heed_cpu_level(uint32_t index) {
  const heed_cpu_level_table *table = usable_level(index);
  return table ? table->name : NULL;
}

static heed_status find_level(const char *name, const heed_cpu_level_table **found,
                              heed_error *error) {
  char all[96] = "";
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    *found = levels[i].table;
    if (name ? strcmp(name, (*found)->name) != 0 : (*found)->by_name) continue;
    if (levels[i].usable()) return HEED_OK;
  }
  for (uint32_t i = 0; (*found = usable_level(i)) != NULL; i++) {
    const size_t length = strlen(all);
    snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", (*found)->name);
  }
  return heed_fail(error, HEED_UNSUPPORTED,
                   "cpu backend: level not available (found \"%s\", expected one of %s)", name,
                   all);
}

static heed_status supports(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                            heed_error *error) {
  const heed_cpu_backend *cpu = (const heed_cpu_backend *)backend;
  (void)plan;
  if (cpu->level->ops[node->op]) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED, "cpu backend: no kernel for %s",
                   heed_ops[node->op]->name);
}

static heed_attention_mode mode(const heed_backend *backend, const heed_plan *plan,
                                const heed_node *node) {
  return ((const heed_cpu_backend *)backend)->level->ops[node->op]->mode(plan, node);
}

static uint32_t in_place(const heed_backend *backend, const heed_node *node) {
  const heed_cpu_op *op = ((const heed_cpu_backend *)backend)->level->ops[node->op];
  return op ? op->in_place : 0;
}

static void destroy(heed_backend *backend) {
  heed_cpu_backend *cpu = (heed_cpu_backend *)backend;
  heed_thread_pool_destroy(cpu->pool);
  heed_free(backend->context, cpu);
}

static const heed_backend_vtable vtable = {
    .name = "cpu",
    .plan = {.supports = supports, .measure = heed_cpu_measure, .mode = mode, .in_place = in_place},
    .program_create = heed_cpu_program_create,
    .program_destroy = heed_cpu_program_destroy,
    .write = heed_cpu_write,
    .read = heed_cpu_read,
    .run = heed_cpu_run,
    .run_part = heed_cpu_run_part,
    .view = heed_cpu_view,
    .panels = heed_cpu_panels,
    .profile = heed_cpu_profile,
    .destroy = destroy,
};

heed_status heed_cpu_backend_create(heed_context *context, const heed_cpu_desc *desc,
                                    heed_backend **backend, heed_error *error) {
  heed_cpu_desc full = HEED_CPU_DESC_INIT;
  if (!context || !backend)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "cpu backend: NULL argument (expected context and backend)");
  *backend = NULL;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "cpu backend", error));
  desc = &full;
  const heed_cpu_level_table *level;
  HEED_TRY(find_level(desc->level, &level, error));
  heed_cpu_backend *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "cpu backend", sizeof *made);
  made->base.vtable = &vtable;
  made->base.context = context;
  made->level = level;
  made->threads_chosen = desc->threads == 0;
  const heed_status status = heed_thread_pool_create(context, desc->threads, &made->pool, error);
  if (status != HEED_OK) {
    heed_free(context, made);
    return status;
  }
  const uint32_t threads = heed_thread_pool_count(made->pool);
  made->base.threads = threads;
  if (threads > 1) heed_backend_bind(&made->base);
  const char *limit = heed_thread_pool_limit(made->pool);
  snprintf(made->base.device, sizeof made->base.device, "%s, %u thread%s%s%s", level->label,
           threads, threads == 1 ? "" : "s", *limit ? "; " : "", limit);
  *backend = &made->base;
  return HEED_OK;
}
