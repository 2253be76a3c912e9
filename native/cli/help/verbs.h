/* The verbs and their tables, for the texts that are made of them: help, man page, completions. */
#ifndef HEED_CLI_HELP_VERBS_H
#define HEED_CLI_HELP_VERBS_H

#include "terminal/options.h"

#define CLI_EXIT_CODES \
  "0 success, 1 mismatch or failed check, 2 usage, 3 bad input, 4 device or memory"

/* NULL: there is none of this name. */
const cli_verb *cli_find_verb(const char *name);
/* Prints the sentence, with the nearest verb; returns the exit code. */
int cli_unknown_verb(const char *found);
void cli_print_help(FILE *to);
/* Calls `describe` with the usage and the options of a verb, which live until it returns. */
void cli_describe(const cli_verb *verb, void (*describe)(void *, const char *, const cli_option *),
                  void *user);

#endif
