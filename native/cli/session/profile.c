/* Times of steps, gathered into rows. */
#define _POSIX_C_SOURCE 200809L
#include "profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend_selection.h"

double cli_milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

double cli_microseconds(void *user) {
  (void)user;
  return cli_milliseconds() * 1e3;
}

int cli_ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool same_work(const heed_plan_step *a, const heed_plan_step *b) {
  return strcmp(a->op, b->op) == 0 && a->flops == b->flops && a->bytes == b->bytes &&
         heed_shape_equal(&a->shape, &b->shape);
}

/* Fills rows and of[step], the row of each step. */
static void make_rows(const heed_plan *plan, cli_profile *profile, uint32_t *of) {
  for (uint32_t i = 0; i < heed_plan_step_count(plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(plan, i, &step);
    uint32_t r = 0;
    while (r < profile->count && !same_work(&profile->rows[r].step, &step)) r++;
    if (r == profile->count) profile->rows[profile->count++] = (cli_profile_row){.step = step};
    profile->rows[r].steps++;
    profile->rows[r].dispatches += step.dispatches;
    of[i] = r;
  }
}

/* sums: [rows][runs]. */
static heed_status run(cli_state *cli, const heed_plan *plan, heed_session *session, uint32_t runs,
                       const uint32_t *of, heed_step_time *times, double *sums) {
  const heed_clock clock = {cli_microseconds, NULL};
  for (uint32_t i = 0; i < runs; i++) {
    CLI_TRY(heed_session_profile(session, &clock, times, &cli->error));
    for (uint32_t step = 0; step < heed_plan_step_count(plan); step++)
      sums[(size_t)of[step] * runs + i] += times[step].microseconds;
  }
  return HEED_OK;
}

/* Of a Vulkan device whose clock can be read; others have none. */
static heed_status take_ceiling(cli_state *cli, heed_backend *backend, cli_profile *profile) {
#if HEED_HAS_VULKAN
  heed_vulkan_ceiling ceiling;
  if (strcmp(heed_backend_name(backend), "vulkan") != 0) return HEED_OK;
  CLI_TRY(heed_vulkan_measure_ceiling(backend, &ceiling, &cli->error));
  profile->gflops = ceiling.f32_gflops;
  profile->half_gflops = ceiling.f16_gflops;
  profile->matrix_gflops = ceiling.matrix_gflops;
  profile->gbs = ceiling.copy_gbs;
#else
  (void)cli;
  (void)backend;
  (void)profile;
#endif
  return HEED_OK;
}

heed_status cli_profile_take(cli_state *cli, heed_backend *backend, const heed_plan *plan,
                             heed_session *session, uint32_t runs, cli_profile *profile) {
  const uint32_t steps = heed_plan_step_count(plan);
  *profile = (cli_profile){.rows = calloc((size_t)steps + 1, sizeof *profile->rows)};
  uint32_t *of = calloc((size_t)steps + 1, sizeof *of);
  heed_step_time *times = calloc((size_t)steps + 1, sizeof *times);
  double *sums = calloc(((size_t)steps + 1) * runs, sizeof *sums);
  heed_status status = HEED_OK;
  if (!profile->rows || !of || !times || !sums)
    status = heed_fail_memory(&cli->error, "profile", ((size_t)steps + 1) * runs * sizeof *sums);
  if (status == HEED_OK) {
    make_rows(plan, profile, of);
    status = run(cli, plan, session, runs, of, times, sums);
    if (status == HEED_OK) status = take_ceiling(cli, backend, profile);
  }
  for (uint32_t r = 0; status == HEED_OK && r < profile->count; r++) {
    qsort(sums + (size_t)r * runs, runs, sizeof *sums, cli_ascending);
    profile->rows[r].microseconds = sums[(size_t)r * runs + runs / 2];
  }
  free(of);
  free(times);
  free(sums);
  return status;
}

void cli_profile_release(cli_profile *profile) {
  free(profile->rows);
  *profile = (cli_profile){.rows = NULL};
}

static double rate(const cli_profile_row *row, uint64_t amount) {
  return row->microseconds > 0.0 ? (double)amount * row->steps / row->microseconds * 1e-3 : 0.0;
}

/* Of what makes the step's products: all but cooperative matrices sum and multiply in fp32. */
static double ceiling_of(const cli_profile *profile, const heed_plan_step *step) {
  bool matrices = false;
  for (uint32_t i = 0; i < step->kernel_count; i++)
    matrices = matrices || strncmp(step->kernel[i].tier, "cooperative", 11) == 0;
  return matrices && profile->matrix_gflops > 0.0 ? profile->matrix_gflops : profile->gflops;
}

/* The share of the time that the device at its best would take, for the operations or for the
 * bytes, whichever takes it longer. */
static double share(const cli_profile *profile, const cli_profile_row *row) {
  if (profile->gflops <= 0.0 || profile->gbs <= 0.0) return 0.0;
  const double multiplying = rate(row, row->step.flops) / ceiling_of(profile, &row->step),
               moving = rate(row, row->step.bytes) / profile->gbs;
  return 100.0 * (multiplying > moving ? multiplying : moving);
}

void cli_kernels_print(const heed_plan_step *step) {
  for (uint32_t i = 0; i < step->kernel_count; i++) {
    const heed_plan_kernel *kernel = &step->kernel[i];
    printf("%s%s (%s", i ? " + " : "  ", kernel->name, kernel->tier);
    if (kernel->tile[0]) printf(", %u x %u", kernel->tile[0], kernel->tile[1]);
    printf(")");
  }
}

void cli_kernels_json(const heed_plan_step *step, json_out *json) {
  json_open(json, "kernels", '[');
  for (uint32_t i = 0; i < step->kernel_count; i++) {
    const heed_plan_kernel *kernel = &step->kernel[i];
    json_open(json, NULL, '{');
    json_text(json, "name", kernel->name);
    json_text(json, "tier", kernel->tier);
    json_open(json, "tile", '[');
    for (uint32_t k = 0; k < 2 && kernel->tile[0]; k++) json_integer(json, NULL, kernel->tile[k]);
    json_close(json, ']');
    json_integer(json, "dispatches", kernel->dispatches);
    json_close(json, '}');
  }
  json_close(json, ']');
}

void cli_profile_print(const cli_profile *profile) {
  double sum = 0.0;
  uint32_t dispatches = 0;
  for (uint32_t r = 0; r < profile->count; r++) {
    sum += profile->rows[r].microseconds;
    dispatches += profile->rows[r].dispatches;
  }
  printf("%-18s %-22s %6s %10s %12s %6s %9s %8s%s  kernels (tier, tile); mode\n", "op", "shape",
         "steps", "dispatches", "us", "%", "GFLOP/s", "GB/s",
         profile->gflops > 0.0 ? "    % of peak" : "");
  for (uint32_t r = 0; r < profile->count; r++) {
    const cli_profile_row *row = &profile->rows[r];
    char text[HEED_SHAPE_TEXT_SIZE];
    printf("%-18s %-22s %6u %10u %12.1f %6.1f %9.1f %8.2f", row->step.op,
           heed_shape_text(&row->step.shape, text), row->steps, row->dispatches, row->microseconds,
           sum > 0.0 ? 100.0 * row->microseconds / sum : 0.0, rate(row, row->step.flops),
           rate(row, row->step.bytes));
    if (profile->gflops > 0.0) printf(" %12.1f", share(profile, row));
    cli_kernels_print(&row->step);
    printf("%s%s\n",
           !row->step.mode[0]       ? ""
           : row->step.kernel_count ? "; "
                                    : "  ",
           row->step.mode);
  }
  printf("%-18s %-22s %6s %10u %12.1f\n", "together", "", "", dispatches, sum);
  if (profile->gflops <= 0.0) return;
  printf("measured peak: %.1f GFLOP/s in fp32, ", profile->gflops);
  if (profile->half_gflops > 0.0) printf("%.1f GFLOP/s in fp16, ", profile->half_gflops);
  if (profile->matrix_gflops > 0.0) printf("%.1f GFLOP/s by matrices, ", profile->matrix_gflops);
  printf("%.2f GB/s copied\n", profile->gbs);
}

void cli_profile_json(const cli_profile *profile, json_out *json) {
  json_open(json, "profile", '[');
  for (uint32_t r = 0; r < profile->count; r++) {
    const cli_profile_row *row = &profile->rows[r];
    char text[HEED_SHAPE_TEXT_SIZE];
    json_open(json, NULL, '{');
    json_text(json, "op", row->step.op);
    json_text(json, "shape", heed_shape_text(&row->step.shape, text));
    json_integer(json, "steps", row->steps);
    json_integer(json, "dispatches", row->dispatches);
    json_number(json, "microseconds", row->microseconds);
    json_number(json, "gflops", rate(row, row->step.flops));
    json_number(json, "gbs", rate(row, row->step.bytes));
    if (profile->gflops > 0.0) json_number(json, "ceiling_percent", share(profile, row));
    json_text(json, "mode", row->step.mode);
    cli_kernels_json(&row->step, json);
    json_close(json, '}');
  }
  json_close(json, ']');
  if (profile->gflops <= 0.0) return;
  json_open(json, "ceiling", '{');
  json_number(json, "f32_gflops", profile->gflops);
  json_number(json, "f16_gflops", profile->half_gflops);
  json_number(json, "matrix_gflops", profile->matrix_gflops);
  json_number(json, "copy_gbs", profile->gbs);
  json_close(json, '}');
}
