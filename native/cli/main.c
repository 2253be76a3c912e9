/* heed: the command line. One file a verb, listed in help/verbs.c; this one only finds it. */
#include <string.h>

#include "heed/native.h"
#include "help/verbs.h"
#include "terminal/standard_out.h"
#include "terminal/system.h"

/* The second line: what this build has that others may lack. */
static void print_version(void) {
  heed_error why;
  printf("heed %s\n%s Vulkan; %s; images of %s\n", heed_version(),
         HEED_HAS_VULKAN ? "with" : "without",
         heed_figure_check("x.pdf", &why) == HEED_OK ? "figures as PNG, SVG and PDF" : "no figures",
         heed_image_kinds());
}

static int run_verb(const cli_verb *verb, int argc, char **argv) {
  cli_state state = {.verb = verb->name};
  int code = verb->run(&state, argc, argv);
  heed_context_destroy(state.context);
  /* Results that did not reach a full disk or a closed pipe are not results. */
  if (cli_stdout_failed()) {
    /* its reader has had enough: as SIGPIPE would have it, with all files written */
    if (cli_stdout_closed()) return code == CLI_OK ? CLI_CLOSED_PIPE : code;
    fprintf(stderr, "heed %s: stdout: cannot write the results\n", verb->name);
    if (code == CLI_OK) code = CLI_BAD_FILE;
  }
  return code;
}

/* Whether the word is one of several, up to NULL. */
static bool is_one_of(const char *word, const char *const *words) {
  while (*words && strcmp(word, *words) != 0) words++;
  return *words != NULL;
}

int main(int argc, char **argv) {
  cli_signals_catch();
  if (!cli_system_begin(&argc, &argv)) {
    fprintf(stderr, "heed: command line: out of memory\n");
    return cli_exit_code(HEED_OUT_OF_MEMORY);
  }
  if (argc < 2) {
    cli_print_help(stderr);
    return CLI_USAGE;
  }
  if (is_one_of(argv[1], (const char *const[]){"--help", "-h", NULL})) {
    cli_print_help(stdout);
    return CLI_OK;
  }
  if (is_one_of(argv[1], (const char *const[]){"--version", "-V", "version", NULL})) {
    print_version();
    return CLI_OK;
  }
  const cli_verb *verb = cli_find_verb(argv[1]);
  return verb ? run_verb(verb, argc - 2, argv + 2) : cli_unknown_verb(argv[1]);
}
