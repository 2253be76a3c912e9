/* Options of a verb: a table in, targets filled, words that are no option collected. */
#ifndef HEED_CLI_TERMINAL_OPTIONS_H
#define HEED_CLI_TERMINAL_OPTIONS_H

#include "cli.h"

typedef enum cli_option_kind {
  CLI_FLAG,
  CLI_TEXT,
  CLI_NUMBER,
  CLI_LARGE, /* a number of 64 bits */
  CLI_TEXTS, /* may be given again */
  /* Texts that name files to be written: */
  CLI_FILE,    /* of whatever kind, such as a figure */
  CLI_JSON,    /* its endings are those of `value`, as of the next ones; "-" is stdout, and what
                  else is printed goes to stderr */
  CLI_TENSORS, /* "-" as of JSON where `value` has it */
  CLI_PNG
} cli_option_kind;

typedef struct cli_option {
  const char *name; /* "--top" or "-o" */
  cli_option_kind kind;
  void *target;      /* bool *, const char **, uint32_t *, uint64_t *, cli_texts * */
  const char *value; /* "K": how help names the value; NULL for a flag */
  const char *help;
} cli_option;

/* What is no option, in the memory of argv. */
typedef struct cli_words {
  const char **word;
  uint32_t count;
} cli_words;

/* The letter of an option that has one, the same in every verb: 'm' of --maps; else '\0'. */
char cli_option_letter(const char *name);

/* What usages say of [MODEL]. */
#define CLI_MODEL_OR_BUILT_IN                                                            \
  "MODEL is a folder, or a .safetensors, .onnx, .pth, .pt, .bin or .ckpt file. Without " \
  "MODEL:\nthe built-in demo model."

#define CLI_MAX_TEXTS 256

/* Of a CLI_TEXTS. */
typedef struct cli_texts {
  const char *word[CLI_MAX_TEXTS];
  uint32_t count;
} cli_texts;

/* Parses; on --help prints usage (first line `usage`) to stdout. Returns -1 to go on, with the
 * context of the verb made as --most-reading says, else the exit code to end with. argv is
 * reordered: the words come first. "--" ends the options; "--name=value",
 * "--name value" and "-n value" all do. The table ends with a NULL name. */
int cli_parse(cli_state *cli, const char *usage, const cli_option *options, int argc, char **argv,
              cli_words *words);

/* What --help prints; the first line of `usage` is what follows "heed". */
void cli_print_usage(const char *usage, const cli_option *options);

/* A decimal number without sign or rest, at most `largest`; and one of 64 bits. */
bool cli_read_number(const char *text, uint32_t largest, uint32_t *number);
bool cli_read_large(const char *text, uint64_t largest, uint64_t *number);
/* Two such numbers with `between` them: "3,5". */
bool cli_read_pair(const char *text, char between, uint32_t most_first, uint32_t most_second,
                   uint32_t *first, uint32_t *second);
/* Reads digits[.digits] at *at, and goes past them. */
bool cli_take_decimal(const char **at, double *number);

#endif
