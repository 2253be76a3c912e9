/* heed man: the manual page, made of the verbs' tables, as troff. */
#include <string.h>

#include "heed/heed.h"
#include "verbs.h"

/* A text whose lines stay lines: nothing in it is a command of troff. */
static void put(const char *text) {
  for (const char *at = text; *at; at++) {
    if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\'')) fputs("\\&", stdout);
    if (*at == '\\')
      fputs("\\e", stdout);
    else if (*at == '-')
      fputs("\\-", stdout);
    else
      putchar(*at);
  }
}

static void put_option(char letter, const char *name, const char *value, const char *help) {
  printf(".TP\n");
  if (letter) printf("\\fB\\-%c\\fR, ", letter);
  printf("\\fB");
  put(name);
  printf("\\fR");
  if (value) {
    printf(" \\fI");
    put(value);
    printf("\\fR");
  }
  printf("\n");
  put(help);
  printf("\n");
}

static void put_verb(void *user, const char *usage, const cli_option *options) {
  const cli_verb *verb = user;
  const size_t line = strcspn(usage, "\n");
  printf(".SS heed %.*s\n", (int)strcspn(usage, " "), usage);
  printf("\\fBheed %.*s\\fR", (int)strcspn(usage, " "), usage);
  char arguments[128];
  snprintf(arguments, sizeof arguments, "%.*s", (int)(line - strlen(verb->name)),
           usage + strlen(verb->name));
  put(arguments);
  printf("\n.PP\n");
  put(verb->summary);
  printf(".\n");
  const char *rest = usage + line + strspn(usage + line, "\n");
  if (*rest) {
    put(rest);
    printf("\n");
  }
  for (const cli_option *option = options; option->name; option++)
    put_option(cli_option_letter(option->name), option->name, option->value, option->help);
}

static int man(cli_state *cli, int argc, char **argv) {
  const cli_option none[] = {{NULL, CLI_FLAG, NULL, NULL, NULL}};
  cli_words words;
  const int code = cli_parse(cli, "man\n\nThe page is for man: heed man >heed.1; man ./heed.1",
                             none, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count) {
    fprintf(stderr, "heed man: unexpected argument (found \"%s\")\n", CLI_SHOWN(words.word[0]));
    return CLI_USAGE;
  }
  printf(".TH HEED 1 \"\" \"heed " HEED_VERSION "\" \"User Commands\"\n"
         ".SH NAME\nheed \\- vision transformer inference with attention maps\n"
         ".SH SYNOPSIS\n\\fBheed\\fR \\fIVERB\\fR [options]\n"
         ".SH DESCRIPTION\nResults are printed on stdout, everything else on stderr.\n"
         "Every verb has the option \\fB\\-\\-help\\fR.\n"
         "\\fB\\-\\-\\fR ends the options.\n.SH VERBS\n");
  for (size_t i = 0; cli_verbs[i]; i++) {
    cli_verb verb = *cli_verbs[i];
    cli_describe(&verb, put_verb, &verb);
  }
  printf(".SH EXIT STATUS\n" CLI_EXIT_CODES ".\n"
         ".br\nA signal ends heed with 128 and its number, a closed stdout with 141.\n");
  return CLI_OK;
}

const cli_verb cli_verb_man = {"man", "print the manual page", man};
