/* The pipes: POSIX. */
#define _POSIX_C_SOURCE 200809L

#include "pipe_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "gpu/list_backend.h"

/* ---- the pipes. A frame, then `bytes` of data; an answer: whether it failed, bytes, data. */

typedef enum operation { HELLO, BEGIN, BUFFER, DISPATCH, WRITE, RUN, READ, END } operation;
typedef struct frame {
  uint32_t operation, program;
  uint32_t buffer; /* of a begin: whether loops are written out; of a run: the first dispatch */
  uint32_t end;    /* of a run */
  uint64_t offset; /* of a buffer: its bytes */
  uint64_t bytes;  /* that follow; of a read: that are asked for */
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

/* ---- the host's part of a program */

static uint32_t begin(void *user) {
  const bool *unrolled = user;
  send_frame(&(frame){.operation = BEGIN, .program = ++host.programs, .buffer = *unrolled}, NULL,
             0);
  return host.programs;
}

static void end(void *user, uint32_t program) {
  (void)user;
  send_frame(&(frame){.operation = END, .program = program}, NULL, 0);
}

static void make_buffer(void *user, uint32_t program, uint32_t buffer, uint64_t bytes) {
  (void)user;
  send_frame(&(frame){BUFFER, program, buffer, 0, bytes, 0}, NULL, 0);
}

static void add_dispatch(void *user, uint32_t program, const heed_gpu_words *words,
                         const char *shader) {
  struct {
    heed_gpu_words words;
    char name[64];
  } data = {.words = *words};
  (void)user;
  snprintf(data.name, sizeof data.name, "%s", shader);
  send_frame(&(frame){.operation = DISPATCH, .program = program, .bytes = sizeof data}, &data,
             sizeof data);
}

static void write_bytes(void *user, uint32_t program, uint32_t buffer, uint64_t offset,
                        const void *from, size_t bytes) {
  (void)user;
  send_frame(&(frame){WRITE, program, buffer, 0, offset, bytes}, from, bytes);
}

static heed_status run(void *user, uint32_t program, uint32_t first, uint32_t last,
                       heed_error *error) {
  uint32_t done;
  (void)user;
  send_frame(&(frame){.operation = RUN, .program = program, .buffer = first, .end = last}, NULL, 0);
  host.dispatches += last - first;
  return take_answer(&done, sizeof done, error);
}

static heed_status read_bytes(void *user, uint32_t program, uint32_t buffer, uint64_t offset,
                              void *to, size_t bytes, heed_error *error) {
  (void)user;
  send_frame(&(frame){READ, program, buffer, 0, offset, bytes}, NULL, 0);
  return take_answer(to, bytes, error);
}

heed_status pipe_backend_create(heed_context *context, const pipe_options *options,
                                heed_backend **backend, heed_error *error) {
  static bool unrolled;
  const heed_gpu_limits limits = {
      .tier = options->subgroups ? HEED_GPU_TIER_SUBGROUP : HEED_GPU_TIER_FLOOR,
      .lanes = 4,
      .invocations = 256,
      .shared = 16384,
      .groups = 65535,
      .fill = 48,
      .bindings = 8,
      .range = (uint64_t)128 << 20,
      .buffer = options->buffer ? options->buffer : (uint64_t)256 << 20,
      .alignment = 256,
      .half = options->half,
      .half_values = options->half,
      .dot = options->dot,
      .counts_bound = true,
      .provable_barriers = true};
  const heed_gpu_list_host functions = {.user = &unrolled,
                                        .begin = begin,
                                        .end = end,
                                        .buffer = make_buffer,
                                        .dispatch = add_dispatch,
                                        .write = write_bytes,
                                        .run = run,
                                        .read = read_bytes};
  unrolled = options->unrolled;
  return heed_gpu_list_backend_create(context, &limits, &functions, "Dawn", backend, error);
}
