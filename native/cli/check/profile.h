/* heed check --profile: a standard's cases, made and evaluated in heed/check.h. */
#ifndef HEED_CLI_CHECK_PROFILE_H
#define HEED_CLI_CHECK_PROFILE_H

#include "session/backend_selection.h"

/* Whether there is a profile of this name; "all" is each of them. */
bool cli_is_profile(const char *name);
/* Runs it and prints a line for each question. json: a file for the result, or NULL. The exit code;
 * CLI_MISMATCH when a case is wrong. */
int cli_check_profile(cli_state *cli, cli_choice *choice, const char *name, const char *json);

#endif
