/* What all verbs do alike: text of others shown, exit codes, the sentence at the end. See cli.h. */
#include "cli.h"

#include <errno.h>
#include <string.h>

const char *cli_shown(const char *text, char to[CLI_SHOWN_SIZE]) {
  const size_t size = strlen(text);
  char *end = to;
  for (size_t at = 0, length; at < size; at += length) {
    uint32_t point;
    bool shown;
    length = heed_text_next(text + at, size - at, &point, &shown);
    if (at + length >= CLI_SHOWN_SIZE) break;
    if (shown)
      for (size_t i = 0; i < length; i++) *end++ = text[at + i];
    else
      *end++ = '?';
  }
  *end = '\0';
  return to;
}

int cli_exit_code(heed_status status) {
  switch (status) {
    case HEED_OK: return CLI_OK;
    case HEED_MISMATCH: return CLI_MISMATCH;
    case HEED_INVALID_ARGUMENT: return CLI_USAGE;
    case HEED_INVALID_FILE:
    case HEED_UNSUPPORTED:
    case HEED_IO: return CLI_BAD_FILE;
    default: return CLI_DEVICE;
  }
}

heed_status cli_status_of_errno(int reason) {
  return reason == ENOMEM ? HEED_OUT_OF_MEMORY : HEED_IO;
}

int cli_fail(const cli_state *cli) {
  fprintf(stderr, "heed %s: %s\n", cli->verb, cli->error.message);
  return cli_exit_code(cli->error.status);
}
