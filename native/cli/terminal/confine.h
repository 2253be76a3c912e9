/* The sandbox of verbs that read files of others. */
#ifndef HEED_CLI_TERMINAL_CONFINE_H
#define HEED_CLI_TERMINAL_CONFINE_H

#include "cli.h"

/* In the table of a verb: it is confined once its options are read (options.h). */
#define CLI_SANDBOX_OPTION(cli)                                                                  \
  {                                                                                              \
    "--sandbox", CLI_TEXT, &(cli)->sandbox, "auto|off",                                          \
        "auto: write nothing but the files named here and caches, start no program and open no " \
        "connection, where the system can forbid it (default: auto)"                             \
  }

/* Enters it as cli->sandbox says. outputs: the files that the verb will write; device: it may open
 * a GPU, whose caches are then made. Returns -1 to go on, else the exit code. */
int cli_confine(const cli_state *cli, const char *const *outputs, uint32_t count, bool device);

#endif
