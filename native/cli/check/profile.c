/* heed check --profile: which questions of a standard's attention come out as it has them. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "heed/check.h"
#include "terminal/json_out.h"
#include "terminal/standard_out.h"

#define MOST_PROFILES 3

typedef struct profile_job {
  cli_state *cli;
  cli_choice *choice;
  char backend[200];
  heed_profile_result results[MOST_PROFILES];
  uint32_t count;
} profile_job;

bool cli_is_profile(const char *name) {
  bool known = strcmp(name, "all") == 0;
  for (uint32_t i = 0; heed_profile_name(i); i++)
    known = known || strcmp(name, heed_profile_name(i)) == 0;
  return known;
}

static void print_failure(void *user, const char *sentence) {
  (void)user;
  printf("  FAIL %s\n", sentence);
}

/* Columns that a text takes: bytes that begin a character. */
static int width(const char *text) {
  int columns = 0;
  for (; *text; text++) columns += ((unsigned char)*text & 0xC0) != 0x80;
  return columns;
}

static void print_line(const heed_profile_line *line) {
  const uint32_t wrong = line->cases - line->passed - line->stated;
  printf("  %s%s %*s%3u of %u", wrong ? "FAIL " : "", line->question,
         50 - width(line->question) - (wrong ? 5 : 0), "", line->passed, line->cases);
  if (line->stated) printf(", %u as heed states", line->stated);
  if (line->stated && line->reason) printf(" (%s)", line->reason);
  printf("\n");
}

/* The question whose cases are wrong most often: where to look first. */
static const heed_profile_line *find_worst(const heed_profile_result *r) {
  const heed_profile_line *worst = r->lines;
  for (uint32_t i = 0; i < r->line_count; i++) {
    const heed_profile_line *line = &r->lines[i];
    const uint64_t right = line->passed + line->stated, least = worst->passed + worst->stated;
    if (right * worst->cases < least * line->cases) worst = line;
  }
  return worst;
}

static void print_result(const profile_job *job, const heed_profile_result *r) {
  const uint32_t wrong = r->cases - r->passed - r->stated;
  printf("%s: %s, on %s\n", r->profile, r->standard, job->backend);
  for (uint32_t i = 0; i < r->line_count; i++) print_line(&r->lines[i]);
  printf("%s: %u cases with %u pairs of choices: %u as the standard, %u as heed states, %u wrong\n",
         r->profile, r->cases, r->pairs, r->passed, r->stated, wrong);
  if (wrong) printf("%s: wrong most often: %s\n", r->profile, find_worst(r)->question);
}

static heed_status run_one(profile_job *job, const char *name) {
  heed_status status;
  heed_profile_result *result = &job->results[job->count++];
  do {
    status = heed_check_profile(job->cli->context, job->choice->opened, name, 0.0, print_failure,
                                NULL, result, &job->cli->error);
  } while (status != HEED_OK && cli_choice_fall_back(job->cli, job->choice, status));
  snprintf(job->backend, sizeof job->backend, "%s (%s)", heed_backend_name(job->choice->opened),
           heed_backend_device(job->choice->opened));
  if (status == HEED_OK) print_result(job, result);
  return status;
}

/* One object, or several in an array. */
static heed_status write_results(void *user, FILE *to, heed_error *error) {
  const profile_job *job = user;
  static char text[16384];
  (void)error;
  if (job->count > 1) fputs("[", to);
  for (uint32_t i = 0; i < job->count; i++) {
    heed_profile_json(&job->results[i], job->backend, text, sizeof text);
    fprintf(to, "%s{\"schema\": %d, %s", i ? ",\n" : "", JSON_SCHEMA, text + 1);
  }
  fputs(job->count > 1 ? "]\n" : "\n", to);
  return HEED_OK;
}

int cli_check_profile(cli_state *cli, cli_choice *choice, const char *name, const char *json) {
  profile_job job = {.cli = cli, .choice = choice};
  uint32_t wrong = 0;
  for (uint32_t i = 0; heed_profile_name(i); i++)
    if (strcmp(name, "all") == 0 || strcmp(name, heed_profile_name(i)) == 0)
      if (run_one(&job, heed_profile_name(i)) != HEED_OK) return cli_fail(cli);
  for (uint32_t i = 0; i < job.count; i++)
    wrong += job.results[i].cases - job.results[i].passed - job.results[i].stated;
  if (json && cli_output_write(json, write_results, &job, &cli->error) != HEED_OK)
    return cli_fail(cli);
  return wrong ? CLI_MISMATCH : CLI_OK;
}
