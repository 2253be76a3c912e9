/* The list of verbs, and heed help. */
#include "verbs.h"

#include <string.h>

#include "heed/heed.h"
#include "terminal/nearest.h"

const cli_verb *const cli_verbs[] = {&cli_verb_run,        &cli_verb_embed,   &cli_verb_eval,
                                     &cli_verb_explain,    &cli_verb_judge,   &cli_verb_check,
                                     &cli_verb_inspect,    &cli_verb_maps,    &cli_verb_survey,
                                     &cli_verb_devices,    &cli_verb_bench,   &cli_verb_demo,
                                     &cli_verb_convert,    &cli_verb_compare, &cli_verb_help,
                                     &cli_verb_completion, &cli_verb_man,     NULL};

const cli_verb *cli_find_verb(const char *name) {
  for (size_t i = 0; cli_verbs[i]; i++)
    if (strcmp(name, cli_verbs[i]->name) == 0) return cli_verbs[i];
  return NULL;
}

int cli_unknown_verb(const char *found) {
  cli_nearest nearest = cli_nearest_to(found, strlen(found));
  fprintf(stderr, "heed: unknown verb (found \"%s\", expected ", CLI_SHOWN(found));
  for (size_t i = 0; cli_verbs[i]; i++) {
    fprintf(stderr, "%s%s", !i ? "" : cli_verbs[i + 1] ? ", " : " or ", cli_verbs[i]->name);
    cli_nearest_try(&nearest, cli_verbs[i]->name);
  }
  fprintf(stderr, nearest.name ? "); did you mean %s?\n" : ")\n", nearest.name);
  return CLI_USAGE;
}

void cli_print_help(FILE *to) {
  fprintf(to,
          "heed " HEED_VERSION
          ": vision transformer inference with attention maps\n\nusage: heed VERB [options]\n\n");
  for (size_t i = 0; cli_verbs[i]; i++)
    fprintf(to, "  %-11s %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
  fprintf(to,
          "\nRun 'heed help VERB' for the options of a verb.\nExit codes: " CLI_EXIT_CODES ".\n");
}

void cli_describe(const cli_verb *verb, void (*describe)(void *, const char *, const cli_option *),
                  void *user) {
  cli_state state = {.verb = verb->name, .describe = describe, .describe_user = user};
  verb->run(&state, 0, (char *[]){NULL});
}

static void print_usage(void *user, const char *usage, const cli_option *options) {
  (void)user;
  cli_print_usage(usage, options);
}

static int help(cli_state *cli, int argc, char **argv) {
  const cli_option none[] = {{NULL, CLI_FLAG, NULL, NULL, NULL}};
  cli_words words;
  const int code =
      cli_parse(cli, "help [VERB]\n\nWithout VERB: the list of verbs.", none, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count > 1) {
    fprintf(stderr, "heed help: too many arguments (found %u, expected at most one VERB)\n",
            words.count);
    return CLI_USAGE;
  }
  const cli_verb *verb = words.count ? cli_find_verb(words.word[0]) : NULL;
  if (words.count && !verb) return cli_unknown_verb(words.word[0]);
  if (verb)
    cli_describe(verb, print_usage, NULL);
  else
    cli_print_help(stdout);
  return CLI_OK;
}

const cli_verb cli_verb_help = {"help", "print the options of a verb", help};
