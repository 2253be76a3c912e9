/* heed check: runs case files on a backend and compares with what they expect, one line a case; or
 * with --profile a standard's cases, one line a question. */
#include <stdlib.h>
#include <string.h>

#include "heed/check.h"
#include "profile.h"
#include "session/backend_selection.h"
#include "terminal/paths.h"
#include "terminal/tensors.h"

static heed_status take_result(void *user, const char *name, heed_dtype dtype,
                               const heed_shape *shape, const void *data, heed_error *error) {
  return cli_tensors_add(user, name, dtype, shape, data, error);
}

#define CASE_BYTES ((uint64_t)1 << 30) /* a case is in memory whole */

/* Runs one file; the exit code. */
static int check_file(cli_state *cli, cli_choice *choice, const char *path, const char *out) {
  unsigned char *bytes;
  size_t size;
  heed_check_result result;
  cli_tensors tensors = {0};
  if (heed_file_read(path, CASE_BYTES, &bytes, &size, &cli->error) != HEED_OK) return cli_fail(cli);
  heed_status status;
  do {
    cli_tensors_clear(&tensors);
    status = heed_check_case(cli->context, choice->opened, bytes, size, 0.0,
                             out ? take_result : NULL, &tensors, &result, &cli->error);
  } while (status != HEED_OK && cli_choice_fall_back(cli, choice, status));
  if (status == HEED_OK && out) status = cli_tensors_save(cli, &tensors, NULL, 0, out);
  cli_tensors_clear(&tensors);
  free(bytes);
  if (status != HEED_OK) {
    fprintf(stderr, "heed check: %s: %s\n", CLI_SHOWN(path), cli->error.message);
    /* A case that cannot be built is a bad file, whatever rule it broke. */
    return status == HEED_INVALID_ARGUMENT ? CLI_BAD_FILE : cli_exit_code(status);
  }
  char shape[HEED_SHAPE_TEXT_SIZE];
  printf("%s %s: %s, max abs error %.3g, max rel error %.3g in %s %s, on %s\n",
         result.passed ? "ok  " : "FAIL", CLI_SHOWN(path), result.op, result.max_abs,
         result.max_rel, CLI_SHOWN(result.worst), heed_shape_text(&result.shape, shape),
         heed_backend_name(choice->opened));
  return result.passed ? CLI_OK : CLI_MISMATCH;
}

typedef struct check_options {
  const char *out, *profile, *json;
  cli_words words;
} check_options;

/* Whether the options go together; says what does not. */
static bool is_possible(const check_options *o) {
  if (o->profile && !cli_is_profile(o->profile)) {
    fprintf(stderr,
            "heed check: --profile: unknown profile (found %s, expected onnx, torch, keras or "
            "all)\n",
            CLI_SHOWN(o->profile));
    return false;
  }
  if (o->profile && (o->words.count || o->out)) {
    fprintf(stderr, "heed check: --profile makes its own cases (found %s, expected none)\n",
            o->out ? "-o" : "a case");
    return false;
  }
  if (o->json && !o->profile) {
    fprintf(stderr, "heed check: --json goes with --profile (found none)\n");
    return false;
  }
  if (o->profile || (o->words.count && (!o->out || o->words.count == 1))) return true;
  fprintf(stderr, "heed check: wrong number of cases (found %u, expected %s)\n", o->words.count,
          o->out ? "one with -o" : "at least one");
  return false;
}

static int check_files(cli_state *cli, cli_choice *choice, const check_options *o) {
  uint32_t passed = 0;
  int code = CLI_OK;
  for (uint32_t i = 0; i < o->words.count; i++) {
    const int this_code = check_file(cli, choice, o->words.word[i], o->out);
    if (this_code == CLI_OK) passed++;
    if (this_code > code) code = this_code;
  }
  if (o->words.count > 1)
    printf("%u of %u cases passed on %s (%s)\n", passed, o->words.count,
           heed_backend_name(choice->opened), CLI_SHOWN(heed_backend_device(choice->opened)));
  return code;
}

static int run(cli_state *cli, int argc, char **argv) {
  cli_choice choice = CLI_CHOICE_INIT;
  check_options o = {.words = {.count = 0}};
  choice.backend = "cpu";
  const cli_option options[] = {
      {"-o", CLI_TENSORS, &o.out, "OUT.safetensors", "save the results; needs a single CASE"},
      {"--profile", CLI_TEXT, &o.profile, "onnx|torch|keras|all",
       "make the cases of a standard's attention instead, and report each question"},
      {"--json", CLI_JSON, &o.json, "OUT.json", "with --profile: save the counts"},
      CLI_CHOICE_OPTIONS(choice, CLI_BACKEND_CPU),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  int code = cli_parse(cli, "check CASE.safetensors... | --profile NAME [options]", options, argc,
                       argv, &o.words);
  if (code >= 0) return code;
  if (!is_possible(&o)) return CLI_USAGE;
  /* with -o there is one case */
  const cli_path paths[] = {{CLI_READ, "the case", o.words.count ? o.words.word[0] : NULL},
                            {CLI_WRITTEN, "-o", o.out},
                            {CLI_WRITTEN, "--json", o.json}};
  if (cli_check_paths(cli, paths, sizeof paths / sizeof *paths) != HEED_OK) return cli_fail(cli);
  if (cli_choice_open(cli, &choice) != HEED_OK) return cli_fail(cli);
  code = o.profile ? cli_check_profile(cli, &choice, o.profile, o.json)
                   : check_files(cli, &choice, &o);
  cli_choice_close(&choice);
  return code;
}

const cli_verb cli_verb_check = {
    "check", "run op test cases, or a standard's, and compare with what they expect", run};
