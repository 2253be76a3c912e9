/* Programs of the CPU backend: the arena, the constants as the kernels want them, scratch, and the
 * steps with their addresses. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/share.h"
#include "base/status.h"
#include "cpu/cpu_backend.h"
#include "cpu/weights/form.h"
#include "graph/ops/linear.h"

/* A constant that is kept. The same one may be kept in several ways. Sessions that keep it in the
 * same way share it (base/share.h). */
typedef struct kept {
  uint32_t id;
  const heed_cpu_form *form; /* panels; NULL: dense */
  heed_shared *shared;
} kept;

struct heed_program {
  const heed_cpu_backend *backend;
  const heed_plan *plan;
  unsigned char *arena, *workspace;
  kept *constants;
  size_t constant_count;
  heed_cpu_step *steps;
};

/* Scratch of a whole plan: nodes run one after another, so each part is the largest that any of
 * them needs. */
typedef struct scratch {
  uint64_t shared, worker, staging, total;
} scratch;

static bool is_constant(const heed_plan *plan, uint32_t id) {
  return heed_graph_record(plan->graph, id)->kind == HEED_VALUE_CONSTANT;
}

/* To turn panels is the same work whatever the rows. Of so many it was not seen beside their
 * product (tests/bench/NOTES.md). */
#define TURNED_ROWS 1024u

static bool has_f32_panels(const heed_cpu_level_table *level, const heed_plan *plan,
                           const heed_node *node) {
  return heed_cpu_form_of(level, plan, node, HEED_LINEAR_INPUT_WEIGHT) ==
         level->forms[HEED_CPU_FORM_f32];
}

static bool keeps_panels(const heed_cpu_level_table *level, const heed_plan *plan, uint32_t id) {
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    if (node->op == HEED_OP_KIND_linear && node->input[HEED_LINEAR_INPUT_WEIGHT] == id)
      return has_f32_panels(level, plan, node);
  }
  return false;
}

uint32_t heed_cpu_kept_id(const heed_cpu_level_table *level, const heed_plan *plan,
                          const heed_node *node, uint32_t slot) {
  const uint32_t id = node->input[slot];
  if (node->op != HEED_OP_KIND_linear || slot != HEED_LINEAR_INPUT_WEIGHT) return id;
  const uint32_t matrix = heed_graph_transposed_of(plan->graph, id);
  if (!matrix) return id;
  const heed_shape *x = &heed_graph_record(plan->graph, node->input[HEED_LINEAR_INPUT_X])->shape;
  return heed_shape_count(x) / x->dim[x->rank - 1] >= TURNED_ROWS &&
                 has_f32_panels(level, plan, node) && keeps_panels(level, plan, matrix)
             ? matrix
             : id;
}

/* A constant [N, ...] as a matrix. */
static heed_cpu_matrix matrix_of(const heed_cpu_backend *cpu, const heed_plan *plan, uint32_t id) {
  const heed_shape *shape = &heed_graph_record(plan->graph, id)->shape;
  return (heed_cpu_matrix){cpu->level, plan->graph, id, shape->dim[0],
                           heed_shape_count(shape) / shape->dim[0]};
}

static uint64_t kept_bytes(const heed_cpu_backend *cpu, const heed_plan *plan,
                           const kept *constant) {
  if (!constant->form) return heed_plan_bytes(plan, constant->id);
  const heed_cpu_matrix matrix = matrix_of(cpu, plan, constant->id);
  return heed_cpu_divide_up(matrix.rows, cpu->level->panel_columns) *
         constant->form->panel_bytes(cpu->level, matrix.depth);
}

typedef heed_status (*visit)(const heed_cpu_backend *cpu, const heed_plan *plan, uint32_t id,
                             const heed_cpu_form *as, void *user, heed_error *error);

/* Calls `to` for each constant of each node that runs; one that several nodes use comes several
 * times. */
static heed_status for_constants(const heed_cpu_backend *cpu, const heed_plan *plan, visit to,
                                 void *user, heed_error *error) {
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    for (uint32_t slot = 0; slot < heed_ops[node->op]->input_count; slot++)
      if (node->input[slot] && is_constant(plan, node->input[slot]))
        HEED_TRY(to(cpu, plan, heed_cpu_kept_id(cpu->level, plan, node, slot),
                    heed_cpu_form_of(cpu->level, plan, node, slot), user, error));
  }
  return HEED_OK;
}

typedef struct list {
  kept *items; /* room for all, or NULL while only counting uses */
  size_t count;
} list;

static heed_status count_use(const heed_cpu_backend *cpu, const heed_plan *plan, uint32_t id,
                             const heed_cpu_form *as, void *user, heed_error *error) {
  (void)cpu, (void)plan, (void)id, (void)as, (void)error;
  ((list *)user)->count++;
  return HEED_OK;
}

static kept *find_kept(kept *items, size_t count, uint32_t id, const heed_cpu_form *as) {
  for (size_t i = 0; i < count; i++)
    if (items[i].id == id && items[i].form == as) return &items[i];
  return NULL;
}

static heed_status add_use(const heed_cpu_backend *cpu, const heed_plan *plan, uint32_t id,
                           const heed_cpu_form *as, void *user, heed_error *error) {
  list *uses = user;
  (void)cpu, (void)plan, (void)error;
  if (!find_kept(uses->items, uses->count, id, as))
    uses->items[uses->count++] = (kept){id, as, NULL};
  return HEED_OK;
}

/* The constants to keep, each once; *items is the context's memory, or NULL when there are none. */
static heed_status list_constants(const heed_cpu_backend *cpu, const heed_plan *plan, kept **items,
                                  size_t *count, heed_error *error) {
  list uses = {NULL, 0};
  *items = NULL;
  *count = 0;
  HEED_TRY(for_constants(cpu, plan, count_use, &uses, error));
  if (uses.count == 0) return HEED_OK;
  *items = heed_alloc(plan->context, uses.count, sizeof **items);
  if (!*items)
    return heed_fail_memory(error, "cpu backend: list of constants", uses.count * sizeof **items);
  uses = (list){*items, 0};
  HEED_TRY(for_constants(cpu, plan, add_use, &uses, error));
  *count = uses.count;
  return HEED_OK;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Scratch while running, or for one panel's rows while packing: the same memory serves both. */
static scratch measure_scratch(const heed_cpu_backend *cpu, const heed_plan *plan,
                               const kept *constants, size_t count) {
  scratch s = {0, 0, 0, 0};
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    heed_cpu_need need = {0, 0};
    if (cpu->level->ops[node->op]->measure)
      cpu->level->ops[node->op]->measure(cpu->level, plan, node, &need);
    s.shared = larger(s.shared, heed_align_up(need.shared, 64)); /* saturates */
    s.worker = larger(s.worker, heed_align_up(need.worker, 64));
  }
  for (size_t i = 0; i < count; i++) {
    if (!constants[i].form) continue;
    const heed_cpu_matrix matrix = matrix_of(cpu, plan, constants[i].id);
    const uint64_t columns = cpu->level->panel_columns;
    s.staging = larger(
        s.staging, (matrix.rows < columns ? matrix.rows : columns) * matrix.depth * sizeof(float));
  }
  uint64_t workers;
  if (!heed_u64_mul(s.worker, heed_thread_pool_count(cpu->pool), &workers) ||
      !heed_u64_add(s.shared, workers, &s.total))
    s.total = UINT64_MAX;
  s.total = larger(s.total, s.staging);
  return s;
}

heed_status heed_cpu_measure(heed_backend *backend, const heed_plan *plan, heed_memory *memory,
                             heed_error *error) {
  const heed_cpu_backend *cpu = (const heed_cpu_backend *)backend;
  kept *constants;
  size_t count;
  const heed_status status = list_constants(cpu, plan, &constants, &count, error);
  if (status == HEED_OK) {
    memory->weights = 0;
    for (size_t i = 0; i < count; i++)
      if (!heed_u64_add(memory->weights, kept_bytes(cpu, plan, &constants[i]), &memory->weights))
        memory->weights = UINT64_MAX;
    memory->workspace = measure_scratch(cpu, plan, constants, count).total;
  }
  heed_free(plan->context, constants);
  return status;
}

/* A block of `bytes`, or OUT_OF_MEMORY; NULL for none. */
static heed_status allocate(const heed_context *context, uint64_t bytes, const char *what,
                            void *pointer, heed_error *error) {
  void *block = NULL;
  if (bytes > 0 && bytes <= SIZE_MAX) block = heed_alloc_raw(context, (size_t)bytes, 1);
  memcpy(pointer, &block, sizeof block);
  return block || bytes == 0
             ? HEED_OK
             : heed_fail_memory(error, what, bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes);
}

/* Rows that are read at a time, and where to: into the arena, which is not in use yet, as many
 * panels' as it has room for. */
static uint64_t choose_rows(const heed_program *program, const kept *constant, uint64_t depth,
                            unsigned char **staging) {
  const uint64_t columns = program->backend->level->panel_columns,
                 panels = program->plan->memory.arena / (columns * depth * constant->form->element);
  *staging = panels > 1 ? program->arena : program->workspace;
  return panels > 1 ? panels * columns : columns;
}

/* Reads a matrix some panels' rows at a time, so that no second copy of it is ever held. */
static heed_status read_panels(heed_program *program, const kept *constant, void *to,
                               heed_error *error) {
  const heed_cpu_form *form = constant->form;
  const heed_cpu_matrix matrix = matrix_of(program->backend, program->plan, constant->id);
  const uint64_t columns = program->backend->level->panel_columns,
                 bytes = form->panel_bytes(matrix.level, matrix.depth);
  unsigned char *staging, *panel = to;
  const uint64_t room = choose_rows(program, constant, matrix.depth, &staging);
  for (uint64_t row = 0; row < matrix.rows; row += columns, panel += bytes) {
    const uint64_t left = matrix.rows - row, at = row % room;
    HEED_ASSERT((uint64_t)(panel - (unsigned char *)to) + bytes <=
                kept_bytes(program->backend, program->plan, constant));
    if (at == 0)
      HEED_TRY(form->read(matrix.graph, matrix.id, row * matrix.depth,
                          (left < room ? left : room) * matrix.depth, staging, error));
    form->pack_panel(&matrix, staging + at * matrix.depth * form->element, row,
                     (uint32_t)(left < columns ? left : columns), panel);
  }
  return HEED_OK;
}

static heed_status read_constant(heed_program *program, const kept *constant, void *to,
                                 heed_error *error) {
  const heed_graph *graph = program->plan->graph;
  if (constant->form) return read_panels(program, constant, to, error);
  const heed_shape *shape = &heed_graph_record(graph, constant->id)->shape;
  return heed_graph_read_constant(graph, constant->id, 0, heed_shape_count(shape), to, error);
}

/* What the bytes of a kept constant depend on: what they are read from, and how they are laid
 * out. */
typedef struct share_key {
  uint64_t words[HEED_ORIGIN_WORDS + 4];
  uint32_t count;
} share_key;

static share_key key_of(const heed_program *program, const kept *constant) {
  const heed_shape *shape = &heed_graph_record(program->plan->graph, constant->id)->shape;
  share_key key;
  key.count = heed_graph_origin_of(program->plan->graph, constant->id, key.words);
  const uint64_t layout[] = {(uintptr_t)constant->form, (uintptr_t)program->backend->level,
                             heed_shape_count(shape), shape->rank ? shape->dim[0] : 0};
  memcpy(key.words + key.count, layout, sizeof layout);
  key.count += sizeof layout / sizeof *layout;
  return key;
}

/* Another session's, or a block of its own that others find from then on. */
static heed_status keep_constant(heed_program *program, kept *constant, uint64_t bytes,
                                 heed_error *error) {
  heed_context *context = program->plan->context;
  const share_key key = key_of(program, constant);
  void *block;
  constant->shared = heed_share_find(context, key.words, key.count);
  if (constant->shared) return HEED_OK;
  HEED_TRY(allocate(context, bytes, "cpu backend: weights", &block, error));
  const heed_status status = read_constant(program, constant, block, error);
  if (status == HEED_OK)
    return heed_share_add(context, key.words, key.count, block, &constant->shared, error);
  heed_free(context, block);
  return status;
}

static heed_status read_constants(heed_program *program, const heed_hooks *hooks,
                                  heed_error *error) {
  const heed_plan *plan = program->plan;
  uint64_t done = 0;
  for (size_t i = 0; i < program->constant_count; i++) {
    kept *constant = &program->constants[i];
    const uint64_t bytes = kept_bytes(program->backend, plan, constant);
    HEED_TRY(heed_check_cancel(hooks, "reading weights", error));
    HEED_TRY(keep_constant(program, constant, bytes, error));
    done += bytes;
    heed_report_progress(hooks, "read", done, plan->memory.weights);
  }
  return HEED_OK;
}

/* Whether a step has work enough for several threads, where their number is not the caller's: some
 * 100 microseconds of one thread. Of a shorter one, what it costs to wake the others, and to wait
 * for them on a machine with other work, is more than they save. Measured with AVX-512; levels with
 * narrower panels take as much longer. A byte that moves is as good as four operations. */
static bool is_worth_sharing(const heed_cpu_backend *cpu, const heed_plan *plan, uint32_t index) {
  heed_plan_step step;
  heed_plan_step_info(plan, index, &step);
  return !cpu->threads_chosen ||
         step.flops / 4 + step.bytes >= cpu->level->panel_columns * 62500ull;
}

static void prepare_step(heed_program *program, uint32_t index, const scratch *s) {
  const heed_plan *plan = program->plan;
  heed_cpu_step *step = &program->steps[index];
  step->plan = plan;
  step->node = heed_plan_node(plan, index);
  step->pool = is_worth_sharing(program->backend, plan, index) ? program->backend->pool : NULL;
  step->level = program->backend->level;
  step->shared = program->workspace;
  step->workers = program->workspace ? program->workspace + s->shared : NULL;
  step->worker_stride = (size_t)s->worker;
  for (uint32_t slot = 0; slot < heed_ops[step->node->op]->input_count; slot++) {
    const uint32_t id = step->node->input[slot];
    if (!id) continue;
    if (is_constant(plan, id)) {
      const kept *constant = find_kept(program->constants, program->constant_count,
                                       heed_cpu_kept_id(step->level, plan, step->node, slot),
                                       heed_cpu_form_of(step->level, plan, step->node, slot));
      HEED_ASSERT(constant && constant->shared);
      step->input[slot] = heed_share_block(constant->shared);
    } else {
      step->input[slot] = program->arena + heed_plan_offset(plan, id);
    }
  }
  for (uint32_t slot = 0; slot < HEED_NODE_OUTPUTS; slot++) {
    const uint32_t id = step->node->output[slot];
    if (heed_plan_wants(plan, id)) step->output[slot] = program->arena + heed_plan_offset(plan, id);
  }
}

static heed_status make(heed_program *program, const heed_hooks *hooks, heed_error *error) {
  const heed_plan *plan = program->plan;
  HEED_TRY(
      list_constants(program->backend, plan, &program->constants, &program->constant_count, error));
  const scratch s =
      measure_scratch(program->backend, plan, program->constants, program->constant_count);
  HEED_TRY(
      allocate(plan->context, plan->memory.arena, "cpu backend: arena", &program->arena, error));
  HEED_TRY(allocate(plan->context, s.total, "cpu backend: workspace", &program->workspace, error));
  if (plan->step_count) {
    program->steps = heed_alloc(plan->context, plan->step_count, sizeof *program->steps);
    if (!program->steps)
      return heed_fail_memory(error, "cpu backend: steps",
                              plan->step_count * sizeof *program->steps);
  }
  HEED_TRY(read_constants(program, hooks, error));
  /* an input that was never written is zero */
  if (program->arena) memset(program->arena, 0, (size_t)plan->memory.arena);
  for (uint32_t i = 0; i < plan->step_count; i++) prepare_step(program, i, &s);
  return HEED_OK;
}

heed_status heed_cpu_program_create(heed_backend *backend, const heed_plan *plan,
                                    const heed_hooks *hooks, heed_program **program,
                                    heed_error *error) {
  heed_program *made = heed_alloc(plan->context, 1, sizeof *made);
  *program = NULL;
  if (!made) return heed_fail_memory(error, "cpu backend: program", sizeof *made);
  made->backend = (const heed_cpu_backend *)backend;
  made->plan = plan;
  const heed_status status = make(made, hooks, error);
  if (status != HEED_OK) {
    heed_cpu_program_destroy(made);
    return status;
  }
  *program = made;
  return HEED_OK;
}

void heed_cpu_program_destroy(heed_program *program) {
  if (!program) return;
  heed_context *context = program->plan->context;
  for (size_t i = 0; i < program->constant_count; i++)
    heed_share_drop(context, program->constants[i].shared);
  heed_free(context, program->constants);
  heed_free(context, program->steps);
  heed_free(context, program->workspace);
  heed_free(context, program->arena);
  heed_free(context, program);
}

heed_status heed_cpu_write(heed_program *program, uint64_t offset, const void *from, size_t bytes,
                           heed_error *error) {
  (void)error;
  HEED_ASSERT(bytes <= program->plan->memory.arena &&
              offset <= program->plan->memory.arena - bytes);
  memcpy(program->arena + offset, from, bytes);
  return HEED_OK;
}

heed_status heed_cpu_read(heed_program *program, uint64_t offset, void *to, size_t bytes,
                          heed_error *error) {
  (void)error;
  HEED_ASSERT(bytes <= program->plan->memory.arena &&
              offset <= program->plan->memory.arena - bytes);
  memcpy(to, program->arena + offset, bytes);
  return HEED_OK;
}

const void *heed_cpu_view(const heed_program *program, uint64_t offset) {
  HEED_ASSERT(offset < program->plan->memory.arena);
  return program->arena + offset;
}

const float *heed_cpu_panels(const heed_program *program, uint32_t constant, uint32_t *columns) {
  *columns = program->backend->level->panel_columns;
  for (size_t i = 0; i < program->constant_count; i++) {
    const kept *one = &program->constants[i];
    if (one->id == constant && one->form && strcmp(one->form->name, "f32") == 0)
      return heed_share_block(one->shared);
  }
  return NULL;
}

static heed_status run_step(const heed_program *program, uint32_t step, heed_error *error) {
  HEED_ASSERT(step < program->plan->step_count);
  const heed_cpu_step *next = &program->steps[step];
  const heed_cpu_op *op = program->backend->level->ops[next->node->op];
  if (op->try_run) return op->try_run(next, error);
  op->run(next);
  return HEED_OK;
}

heed_status heed_cpu_run_part(heed_program *program, uint32_t *step, uint32_t end,
                              heed_error *error) {
  const uint32_t stage = program->steps[*step].node->stage;
  for (; *step < end && program->steps[*step].node->stage == stage; (*step)++)
    HEED_TRY(run_step(program, *step, error));
  return HEED_OK;
}

heed_status heed_cpu_profile(heed_program *program, const heed_clock *clock, heed_step_time *times,
                             heed_error *error) {
  for (uint32_t step = 0; step < program->plan->step_count; step++) {
    const double start = clock->microseconds(clock->user);
    HEED_TRY(run_step(program, step, error));
    times[step] = (heed_step_time){1, clock->microseconds(clock->user) - start};
  }
  return HEED_OK;
}

heed_status heed_cpu_run(heed_program *program, const heed_hooks *hooks, heed_error *error) {
  const heed_plan *plan = program->plan;
  const uint32_t stages = plan->graph->stage_count;
  HEED_TRY(heed_check_cancel(hooks, "run", error));
  for (uint32_t step = 0; step < plan->step_count;) {
    if (step > 0) {
      heed_report_progress(hooks, "run", program->steps[step].node->stage, stages);
      HEED_TRY(heed_check_cancel(hooks, "run", error));
    }
    HEED_TRY(heed_cpu_run_part(program, &step, plan->step_count, error));
  }
  heed_report_progress(hooks, "run", stages, stages);
  return HEED_OK;
}
