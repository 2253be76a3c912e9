/* What the verbs of the command line share. stdout carries results, stderr everything else. */
#ifndef HEED_CLI_TERMINAL_CLI_H
#define HEED_CLI_TERMINAL_CLI_H

#include <stdio.h>

#include "heed/heed.h"

/* Exit codes: a contract. The last is what shells say of SIGPIPE. */
enum {
  CLI_CLOSED_PIPE = 141,
  CLI_OK = 0,
  CLI_MISMATCH = 1,
  CLI_USAGE = 2,
  CLI_BAD_FILE = 3,
  CLI_DEVICE = 4
};

struct cli_option;

/* Values of the options of session/prepare.h, or NULL. */
typedef struct cli_prepare_words {
  const char *mean, *std, *resample, *crop, *rescale;
} cli_prepare_words;

typedef struct cli_state {
  const char *verb; /* "run" */
  /* Set: cli_parse passes the verb's usage and table to it, and the verb ends there. */
  void (*describe)(void *user, const char *usage, const struct cli_option *options);
  void *describe_user;
  heed_context *context; /* of cli_parse */
  heed_error error;
  const char *weights_key;        /* --weights-key: of every model file that is opened; or NULL */
  const char *names, *hints;      /* --names and --hints: the same */
  const char *interpolation_grid; /* the same, as one more hint */
  cli_prepare_words prepare;      /* of every model that takes images */
  const char *sandbox;            /* --sandbox, or NULL */
  uint64_t most_reading;          /* --most-reading: bytes, of every file that is opened; or 0 */
  uint64_t most_elements, most_steps; /* --most-elements and --most-steps: of ONNX graphs; or 0 */
  bool silent; /* the log is not shown: what is opened will be opened again, and says it then */
} cli_state;

typedef struct cli_verb {
  const char *name;
  const char *summary;
  int (*run)(cli_state *cli, int argc, char **argv); /* argv without program and verb */
} cli_verb;

extern const cli_verb cli_verb_run, cli_verb_embed, cli_verb_eval, cli_verb_explain, cli_verb_judge,
    cli_verb_check, cli_verb_inspect, cli_verb_maps, cli_verb_survey, cli_verb_devices,
    cli_verb_bench, cli_verb_demo, cli_verb_convert, cli_verb_compare, cli_verb_help,
    cli_verb_completion, cli_verb_man;
/* All of them, in the order of the help; then NULL. */
extern const cli_verb *const cli_verbs[];

/* A text that a file or the command line brought, as an argument of printf: one line that a
 * terminal only shows: what it would obey, and what is not UTF-8, is '?'. Cut where it is longer
 * than a path may be. */
#define CLI_SHOWN_SIZE 4097
#define CLI_SHOWN(text) cli_shown((text), (char[CLI_SHOWN_SIZE]){0})
const char *cli_shown(const char *text, char to[CLI_SHOWN_SIZE]);

/* Returns from the calling function when the expression is not HEED_OK. */
#define CLI_TRY(expression)                    \
  do {                                         \
    const heed_status cli_try_ = (expression); \
    if (cli_try_ != HEED_OK) return cli_try_;  \
  } while (0)

/* Prints cli->error to stderr as "heed VERB: sentence" and returns the exit code of its status. */
int cli_fail(const cli_state *cli);

/* SIGINT, SIGTERM, SIGHUP and SIGQUIT remove what is half written and end the program with 128 and
 * their number. */
void cli_signals_catch(void);
/* A program that is started after heed_sandbox_enter ends this one with a sentence of the verb,
 * which must live as long, and exit code 3. */
void cli_signals_catch_refused(const char *verb);
/* From here on a pipe that its reader closed does not end the program (SIGPIPE): there are files to
 * write. */
void cli_signals_keep_pipe(void);
/* While deferred, a signal is only noted; a loop asks for it and stops. Its end comes with
 * cli_signals_defer(false). */
void cli_signals_defer(bool defer);
bool cli_signals_arrived(void);
/* Whether reading the file stopped at a signal that does not end the program: it can go on. */
bool cli_interrupted(FILE *file);

int cli_exit_code(heed_status status);
/* What a call of the system failed for: OUT_OF_MEMORY or IO. */
heed_status cli_status_of_errno(int reason);

#endif
