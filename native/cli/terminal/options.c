/* Options of a verb. */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "confine.h"
#include "files/names.h"
#include "nearest.h"
#include "standard_out.h"

#define HELP_COLUMN 31
#define HELP_WIDTH 100

/* The five most used. */
static const struct {
  char letter;
  const char *name;
} letters[] = {
    {'b', "--backend"}, {'j', "--json"}, {'l', "--layer"}, {'m', "--maps"}, {'q', "--quiet"}};

char cli_option_letter(const char *name) {
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (strcmp(letters[i].name, name) == 0) return letters[i].letter;
  return '\0';
}

bool cli_read_large(const char *text, uint64_t largest, uint64_t *number) {
  uint64_t value = 0;
  if (!*text) return false;
  for (; *text; text++) {
    const unsigned digit = (unsigned char)*text - (unsigned)'0';
    if (digit > 9 || value > largest / 10 || digit > largest - value * 10) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

bool cli_read_number(const char *text, uint32_t largest, uint32_t *number) {
  uint64_t value;
  if (!cli_read_large(text, largest, &value)) return false;
  *number = (uint32_t)value;
  return true;
}

bool cli_read_pair(const char *text, char between, uint32_t most_first, uint32_t most_second,
                   uint32_t *first, uint32_t *second) {
  char before[16] = "";
  const char *at = strchr(text, between);
  if (!at || (size_t)(at - text) >= sizeof before) return false;
  memcpy(before, text, (size_t)(at - text));
  return cli_read_number(before, most_first, first) && cli_read_number(at + 1, most_second, second);
}

bool cli_take_decimal(const char **at, double *number) {
  const char *end = *at + strspn(*at, "0123456789");
  if (end == *at) return false;
  if (*end == '.') {
    const size_t places = strspn(end + 1, "0123456789");
    if (places == 0) return false;
    end += 1 + places;
  }
  /* alone: what follows may go on as a number for strtod */
  char *digits = malloc((size_t)(end - *at) + 1);
  if (!digits) return false;
  memcpy(digits, *at, (size_t)(end - *at));
  digits[end - *at] = '\0';
  *number = strtod(digits, NULL); /* the program never leaves the C locale */
  free(digits);
  *at = end;
  return isfinite(*number);
}

/* The words of a text from HELP_COLUMN on, in lines of at most HELP_WIDTH columns. */
static void print_wrapped(const char *text) {
  size_t column = HELP_COLUMN;
  while (*text) {
    const size_t length = strcspn(text, " ");
    if (column > HELP_COLUMN && column + length > HELP_WIDTH) {
      printf("\n%*s", HELP_COLUMN, "");
      column = HELP_COLUMN;
    }
    printf("%s%.*s", column > HELP_COLUMN ? " " : "", (int)length, text);
    column += length + 1;
    text += length;
    text += strspn(text, " ");
  }
  printf("\n");
}

static void print_option(char letter, const char *name, const char *value, const char *help) {
  const char before[] = {'-', letter, ',', ' ', '\0'};
  const int length =
      printf("  %s%s%s%s", letter ? before : "", name, value ? " " : "", value ? value : "");
  if (length + 1 < HELP_COLUMN)
    printf("%*s", HELP_COLUMN - length, "");
  else
    printf("\n%*s", HELP_COLUMN, "");
  print_wrapped(help);
}

void cli_print_usage(const char *usage, const cli_option *options) {
  printf("usage: heed %s\n\n", usage);
  for (const cli_option *option = options; option->name; option++)
    print_option(cli_option_letter(option->name), option->name, option->value, option->help);
  print_option('h', "--help", NULL, "print this text");
}

static int usage_error(const cli_state *cli, const char *what, const char *found) {
  fprintf(stderr, "heed %s: %s (found \"%s\"); see heed %s --help\n", cli->verb, what,
          CLI_SHOWN(found), cli->verb);
  return CLI_USAGE;
}

static int unknown_option(const cli_state *cli, const cli_option *options, const char *word) {
  cli_nearest nearest = cli_nearest_to(word, strcspn(word, "="));
  for (; options->name; options++) cli_nearest_try(&nearest, options->name);
  if (!nearest.name) return usage_error(cli, "unknown option", word);
  fprintf(stderr, "heed %s: unknown option (found \"%s\"); did you mean %s? See heed %s --help\n",
          cli->verb, CLI_SHOWN(word), nearest.name, cli->verb);
  return CLI_USAGE;
}

/* Splits "--name=value"; the option of that name or letter, or NULL. */
static const cli_option *find_option(const cli_option *options, const char *word,
                                     const char **value) {
  const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
  const size_t length = equals ? (size_t)(equals - word) : strlen(word);
  *value = equals ? equals + 1 : NULL;
  for (; options->name; options++) {
    if (strlen(options->name) == length && strncmp(options->name, word, length) == 0)
      return options;
    if (length == 2 && word[1] != '-' && cli_option_letter(options->name) == word[1])
      return options;
  }
  return NULL;
}

/* A name that ends otherwise than its format does is a slip: the file would be there and not open.
 * The endings stand in the option's value: "OUT.json|.jsonl|-". Names without an ending, of pipes
 * and devices, are the user's choice. */
static bool has_foreign_end(const char *path, const cli_option *option) {
  const char *name = heed_last_name(path), *end = strrchr(name, '.');
  if (option->kind == CLI_FILE || !end || end == name) return false;
  for (const char *at = option->value; (at = strchr(at, '.')); at++) {
    const size_t length = strcspn(at, "|");
    if (strlen(end) == length && strncasecmp(at, end, length) == 0) return false;
  }
  return true;
}

static bool takes_stdout(const cli_option *option) {
  return option->kind == CLI_JSON || strstr(option->value, "|-");
}

static int set_output(const cli_state *cli, const cli_option *option, const char *path) {
  if (!*path) {
    fprintf(stderr, "heed %s: %s: missing name of a file (found \"\", expected %s)\n", cli->verb,
            option->name, option->value);
    return CLI_USAGE;
  }
  memcpy(option->target, &path, sizeof path);
  if (takes_stdout(option) && cli_is_stdout(path)) {
    if (cli_stdout_reserve()) return -1;
    const int reason = errno;
    fprintf(stderr, "heed %s: %s: cannot write to stdout (%s)\n", cli->verb, option->name,
            strerror(reason));
    return cli_exit_code(cli_status_of_errno(reason));
  }
  cli_signals_keep_pipe();
  if (strcmp(path, "-") != 0 && !has_foreign_end(path, option)) return -1;
  fprintf(stderr, "heed %s: %s: the name of another format (found \"%s\", expected %s)\n",
          cli->verb, option->name, CLI_SHOWN(path), option->value);
  return CLI_USAGE;
}

static int set_option(const cli_state *cli, const cli_option *option, const char *value) {
  if (option->kind == CLI_TEXT) {
    memcpy(option->target, &value, sizeof value);
    return -1;
  }
  if (option->kind >= CLI_FILE) return set_output(cli, option, value);
  if (option->kind == CLI_TEXTS) {
    cli_texts *texts = option->target;
    if (texts->count == CLI_MAX_TEXTS) {
      fprintf(stderr, "heed %s: %s: given too often (found more than %d)\n", cli->verb,
              option->name, CLI_MAX_TEXTS);
      return CLI_USAGE;
    }
    texts->word[texts->count++] = value;
    return -1;
  }
  const bool large = option->kind == CLI_LARGE;
  uint64_t number;
  if (!cli_read_large(value, large ? UINT64_MAX : UINT32_MAX - 1, &number)) {
    fprintf(stderr, "heed %s: %s: invalid whole number (found \"%s\"); see heed %s --help\n",
            cli->verb, option->name, CLI_SHOWN(value), cli->verb);
    return CLI_USAGE;
  }
  if (large)
    *(uint64_t *)option->target = number;
  else
    *(uint32_t *)option->target = (uint32_t)number;
  return -1;
}

#define MOST_OPTIONS 128 /* of a verb; cli_usage gives each of them twice */

/* The last value of several holds, as elsewhere; who did not mean that reads it. */
static void report_again(const cli_state *cli, const cli_option *option, const char *value) {
  if (option->kind != CLI_FLAG && option->kind != CLI_TEXTS)
    fprintf(stderr, "heed %s: %s: given twice (the last one holds: \"%s\")\n", cli->verb,
            option->name, CLI_SHOWN(value));
}

/* A verb whose table has --sandbox, with the files that its options say it writes. */
static int confine(const cli_state *cli, const cli_option *options) {
  const char *outputs[MOST_OPTIONS];
  uint32_t count = 0;
  bool wanted = false, device = false;
  for (; options->name; options++) {
    const char *path = NULL, *backend = NULL;
    if (strcmp(options->name, "--backend") == 0) {
      memcpy(&backend, options->target, sizeof backend);
      device = strcmp(backend, "cpu") != 0;
    }
    if (options->kind >= CLI_FILE) memcpy(&path, options->target, sizeof path);
    if (path && count < MOST_OPTIONS) outputs[count++] = path;
    if (options->target == (const void *)&cli->sandbox) wanted = true;
  }
  return wanted ? cli_confine(cli, outputs, count, device) : -1;
}

static void print_log(heed_log_level level, const char *line, void *user) {
  const cli_state *cli = user;
  if (level >= HEED_LOG_WARNING && !cli->silent) fprintf(stderr, "heed: %s\n", line);
}

/* One that is there stays: of who runs a verb with memory of its own. */
static int open_context(cli_state *cli) {
  if (cli->context) return -1;
  heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
  desc.log = print_log;
  desc.log_user = cli;
  desc.most_reading = cli->most_reading;
  return heed_context_create(&desc, &cli->context, &cli->error) == HEED_OK ? -1 : cli_fail(cli);
}

int cli_parse(cli_state *cli, const char *usage, const cli_option *options, int argc, char **argv,
              cli_words *words) {
  if (cli->describe) {
    cli->describe(cli->describe_user, usage, options);
    return CLI_OK;
  }
  bool given[MOST_OPTIONS] = {false};
  *words = (cli_words){(const char **)argv, 0};
  bool options_end = false;
  for (int i = 0; i < argc; i++) {
    if (options_end || argv[i][0] != '-' || argv[i][1] == '\0') {
      words->word[words->count++] = argv[i]; /* at or before i */
      continue;
    }
    if (strcmp(argv[i], "--") == 0) {
      options_end = true;
      continue;
    }
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      cli_print_usage(usage, options);
      return CLI_OK;
    }
    const char *value;
    const cli_option *option = find_option(options, argv[i], &value);
    if (!option) return unknown_option(cli, options, argv[i]);
    if (option->kind == CLI_FLAG) {
      if (value) return usage_error(cli, "this option takes no value", argv[i]);
      *(bool *)option->target = true;
      continue;
    }
    /* the next option is no value: --text=--json gives a text that looks like one */
    const char *none;
    if (!value && (i + 1 == argc || find_option(options, argv[i + 1], &none)))
      return usage_error(cli, "missing value", argv[i]);
    if (!value) value = argv[++i];
    const int code = set_option(cli, option, value);
    if (code >= 0) return code;
    const size_t which = (size_t)(option - options);
    if (which >= MOST_OPTIONS) continue;
    if (given[which]) report_again(cli, option, value);
    given[which] = true;
  }
  const int code = confine(cli, options);
  return code >= 0 ? code : open_context(cli);
}
