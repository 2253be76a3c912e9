/* The pipes: POSIX. */
#define _POSIX_C_SOURCE 200809L

#include "pipe_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/status.h"
#include "gpu/dispatch_list.h"
#include "gpu/dispatch_summary.h"
#include "gpu/op.h"
#include "gpu/weight_packing.h"
#include "gpu/weight_upload.h"

/* ---- the pipes. A frame, then `bytes` of data; an answer: whether it failed, bytes, data. */

typedef enum operation { HELLO, CREATE, PUT, WRITE, RUN, READ, DESTROY } operation;
typedef struct frame {
  uint32_t operation, program, block, unused;
  uint64_t offset, bytes;
} frame;
typedef struct answer {
  uint32_t failed, bytes;
} answer;

static struct {
  FILE *to, *from;
  pid_t child;
  uint32_t programs, has_subgroups;
  unsigned long dispatches;
} host;

static void send_frame(const frame *f, const void *data, size_t bytes) {
  fwrite(f, sizeof *f, 1, host.to);
  if (bytes) fwrite(data, 1, bytes, host.to);
}

/* What the host answers goes to `to`, if it has so many bytes; else its sentence to error. */
static heed_status take_answer(void *to, size_t bytes, heed_error *error) {
  answer a;
  char text[400] = "the host ended";
  fflush(host.to);
  if (fread(&a, sizeof a, 1, host.from) != 1)
    return heed_fail(error, HEED_DEVICE_LOST, "webgpu: %s", text);
  if (!a.failed && a.bytes == bytes && fread(to, 1, bytes, host.from) == bytes) return HEED_OK;
  const size_t length = a.bytes < sizeof text - 1 ? a.bytes : sizeof text - 1;
  text[fread(text, 1, length, host.from)] = '\0';
  return heed_fail(error, HEED_DEVICE_LOST, "webgpu: %s", text);
}

bool pipe_backend_start(char *why, size_t size) {
  int down[2], up[2];
  heed_error error = {0};
  const char *command = getenv("HEED_GPU_HOST");
  snprintf(why, size, "HEED_GPU_HOST names no host");
  if (!command || pipe(down) || pipe(up)) return false;
  host.child = fork();
  if (host.child == 0) {
    dup2(down[0], 0);
    dup2(up[1], 3);
    dup2(2, 1); /* Dawn writes to stdout */
    close(down[1]);
    close(up[0]);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  host.to = fdopen(down[1], "wb");
  host.from = fdopen(up[0], "rb");
  send_frame(&(frame){.operation = HELLO}, NULL, 0);
  if (take_answer(&host.has_subgroups, sizeof host.has_subgroups, &error) == HEED_OK) return true;
  snprintf(why, size, "%s", error.message);
  return false;
}

void pipe_backend_stop(void) {
  if (host.to) fclose(host.to);
  if (host.from) fclose(host.from);
  if (host.child > 0) waitpid(host.child, NULL, 0);
  host.to = host.from = NULL;
}

bool pipe_backend_has_subgroups(void) { return host.has_subgroups != 0; }
unsigned long pipe_backend_dispatches(void) { return host.dispatches; }

/* ---- plans */

typedef struct pipe_backend {
  heed_backend base;
  heed_gpu_limits limits;
  bool unrolled;
} pipe_backend;

struct heed_program {
  pipe_backend *backend;
  const heed_plan *plan;
  uint32_t number;
};

static const heed_gpu_limits *limits_of(const heed_backend *backend) {
  return &((const pipe_backend *)backend)->limits;
}

static heed_status supports(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                            heed_error *error) {
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, limits_of(backend));
  const heed_status status = heed_gpu_builder_node(&builder, node, error);
  heed_gpu_builder_end(&builder);
  return status;
}

static heed_status measure(heed_backend *backend, const heed_plan *plan, heed_memory *memory,
                           heed_error *error) {
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, limits_of(backend));
  const heed_status status = heed_gpu_builder_plan(&builder, error);
  memory->weights = 0;
  for (size_t i = 0; i < builder.block_count; i++) memory->weights += builder.blocks[i];
  memory->workspace =
      builder.scratch_bytes + (builder.weight_count ? heed_gpu_pack_bytes(&builder) : 0);
  heed_gpu_builder_end(&builder);
  return status;
}

static void describe(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                     heed_plan_step *step) {
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, limits_of(backend));
  if (heed_gpu_builder_node(&builder, node, NULL) == HEED_OK) {
    step->dispatches = (uint32_t)builder.dispatch_count;
    step->kernel_count = heed_gpu_list_kernels(&builder, step->kernel, HEED_STEP_KERNELS);
  }
  heed_gpu_builder_end(&builder);
}

static heed_attention_mode mode(const heed_backend *backend, const heed_plan *plan,
                                const heed_node *node) {
  return heed_gpu_ops[node->op]->mode(limits_of(backend), plan, node);
}

/* ---- programs */

static void print_numbers(FILE *to, const char *name, const uint32_t *numbers, uint32_t count) {
  fprintf(to, ",\"%s\":[", name);
  for (uint32_t i = 0; i < count; i++) fprintf(to, "%s%u", i ? "," : "", numbers[i]);
  fprintf(to, "]");
}

static void print_dispatch(FILE *to, const heed_gpu_dispatch *d) {
  fprintf(to, "{\"shader\":\"%s\"", heed_gpu_shader_name(d->shader));
  print_numbers(to, "constants", d->constants, d->constant_count);
  print_numbers(to, "push", d->push, d->push_bytes / 4);
  print_numbers(to, "groups", d->groups, 3);
  fprintf(to, ",\"ranges\":[");
  for (uint32_t i = 0; i < d->binding_count; i++) {
    const heed_gpu_range *r = &d->binding[i];
    fprintf(to, "%s{\"place\":%d,\"block\":%u,\"offset\":%llu,\"bytes\":%llu,\"written\":%s}",
            i ? "," : "", (int)r->place, r->block, (unsigned long long)r->offset,
            (unsigned long long)r->bytes, r->written ? "true" : "false");
  }
  fprintf(to, "]}");
}

/* The plan as JSON, which the host makes buffers and pipelines from. */
static void send_plan(const heed_program *program, const heed_gpu_builder *builder) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  fprintf(to, "{\"unrolled\":%s,\"arena\":%llu,\"scratch\":%llu,\"blocks\":[",
          program->backend->unrolled ? "true" : "false",
          (unsigned long long)program->plan->memory.arena,
          (unsigned long long)builder->scratch_bytes);
  for (size_t i = 0; i < builder->block_count; i++)
    fprintf(to, "%s%llu", i ? "," : "", (unsigned long long)builder->blocks[i]);
  fprintf(to, "],\"dispatches\":[");
  for (size_t i = 0; i < builder->dispatch_count; i++) {
    if (i) fprintf(to, ",");
    print_dispatch(to, &builder->dispatches[i]);
  }
  fprintf(to, "]}");
  fclose(to);
  send_frame(&(frame){.operation = CREATE, .program = program->number, .bytes = size}, text, size);
  free(text);
  host.dispatches += (unsigned long)builder->dispatch_count;
}

static heed_status put(void *user, uint32_t block, uint64_t offset, const void *from, size_t bytes,
                       heed_error *error) {
  const heed_program *program = user;
  (void)error;
  send_frame(&(frame){PUT, program->number, block, 0, offset, bytes}, from, bytes);
  return HEED_OK;
}

static void program_destroy(heed_program *program) {
  if (!program) return;
  send_frame(&(frame){.operation = DESTROY, .program = program->number}, NULL, 0);
  heed_free(program->plan->context, program);
}

static heed_status program_create(heed_backend *backend, const heed_plan *plan,
                                  const heed_hooks *hooks, heed_program **result,
                                  heed_error *error) {
  heed_program *program = heed_alloc(plan->context, 1, sizeof *program);
  if (!program) return heed_fail_memory(error, "webgpu: program", sizeof *program);
  *program = (heed_program){(pipe_backend *)backend, plan, ++host.programs};
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, limits_of(backend));
  heed_status status = heed_gpu_builder_plan(&builder, error);
  if (status == HEED_OK) {
    send_plan(program, &builder);
    status = heed_gpu_upload(&builder, hooks, put, program, error);
  }
  heed_gpu_builder_end(&builder);
  if (status == HEED_OK)
    *result = program;
  else
    program_destroy(program);
  return status;
}

static heed_status program_write(heed_program *program, uint64_t offset, const void *from,
                                 size_t bytes, heed_error *error) {
  (void)error;
  send_frame(&(frame){WRITE, program->number, 0, 0, offset, bytes}, from, bytes);
  return HEED_OK;
}

static heed_status program_read(heed_program *program, uint64_t offset, void *to, size_t bytes,
                                heed_error *error) {
  /* the length stands in the data: a frame's bytes follow it */
  const uint64_t length = bytes;
  send_frame(&(frame){READ, program->number, 0, 0, offset, sizeof length}, &length, sizeof length);
  return take_answer(to, bytes, error);
}

static heed_status program_run(heed_program *program, const heed_hooks *hooks, heed_error *error) {
  uint32_t done;
  (void)hooks;
  send_frame(&(frame){.operation = RUN, .program = program->number}, NULL, 0);
  return take_answer(&done, sizeof done, error);
}

static heed_status profile(heed_program *program, const heed_clock *clock, heed_step_time *times,
                           heed_error *error) {
  (void)program, (void)clock, (void)times;
  return heed_fail(error, HEED_UNSUPPORTED, "webgpu: no profile behind pipes");
}

static void destroy(heed_backend *backend) { heed_free(backend->context, backend); }

static const heed_backend_vtable vtable = {
    .name = "webgpu",
    .plan = {.supports = supports, .measure = measure, .describe = describe, .mode = mode},
    .program_create = program_create,
    .program_destroy = program_destroy,
    .write = program_write,
    .read = program_read,
    .run = program_run,
    .profile = profile,
    .destroy = destroy};

heed_status pipe_backend_create(heed_context *context, const pipe_options *options,
                                heed_backend **backend, heed_error *error) {
  pipe_backend *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "webgpu", sizeof *made);
  *made = (pipe_backend){
      .base = {.vtable = &vtable, .context = context, .device = "Dawn"},
      .limits = {.tier = options->subgroups ? HEED_GPU_TIER_SUBGROUP : HEED_GPU_TIER_FLOOR,
                 .lanes = 4,
                 .invocations = 256,
                 .shared = 16384,
                 .groups = 65535,
                 .fill = 48,
                 .bindings = 8,
                 .range = (uint64_t)128 << 20,
                 .alignment = 256,
                 .half = options->half,
                 .half_values = options->half,
                 .dot = options->dot,
                 .counts_bound = true,
                 .provable_barriers = true},
      .unrolled = options->unrolled};
  heed_backend_bind(&made->base);
  *backend = &made->base;
  return HEED_OK;
}
