/* heed completion: what a shell completes, made of the verbs' tables. */
#include <string.h>

#include "verbs.h"

/* The next word of "auto|vulkan|cpu" that is typed as it stands; "L" of "L|all" stands for one. */
static bool next_choice(const char **value, size_t *length) {
  while (**value) {
    const char *word = *value;
    *length = strcspn(word, "|");
    *value = word + *length + (word[*length] == '|');
    if (strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-_") >= *length && *word >= 'a')
      return true;
  }
  return false;
}

static bool has_choices(const char *value) {
  size_t length;
  return value && next_choice(&value, &length);
}

static void put_choices(const char *value) {
  size_t length;
  for (const char *between = ""; next_choice(&value, &length); between = " ")
    printf("%s%.*s", between, (int)length, value - length - (value[-1] == '|'));
}

static void put_verbs(void) {
  for (size_t i = 0; cli_verbs[i]; i++) printf("%s%s", i ? " " : "", cli_verbs[i]->name);
}

static bool names_file(const cli_option *option) {
  return option->kind >= CLI_FILE ||
         (option->value && (strstr(option->value, "FILE") || strstr(option->value, "FOLDER")));
}

/* The first argument of "completion bash|zsh|fish", where it is one of several words. */
static void put_argument(const char *usage) {
  char word[64];
  const char *at = usage + strcspn(usage, " \n");
  snprintf(word, sizeof word, "%.*s", (int)(*at == ' ' ? strcspn(at + 1, " \n") : 0), at + 1);
  if (strcmp(word, "[VERB]") == 0)
    put_verbs();
  else
    put_choices(word);
}

/* What an option does, up to its details, for a quoted string of the shell. */
static void put_short(const char *help, const char *quote) {
  size_t length = strcspn(help, ";(:[");
  while (length && help[length - 1] == ' ') length--;
  for (size_t i = 0; i < length; i++)
    if (help[i] == '\'')
      fputs(quote, stdout);
    else
      putchar(help[i]);
}

/* ------------------------------------------------------------------------------------------- bash
 */

static void bash_verb(void *user, const char *usage, const cli_option *options) {
  const cli_verb *verb = user;
  printf("    %s)\n      case $before in\n", verb->name);
  for (const cli_option *option = options; option->name; option++) {
    const char letter = cli_option_letter(option->name);
    if (option->kind == CLI_FLAG) continue;
    printf("        %s", option->name);
    if (letter) printf(" | -%c", letter);
    printf(") words='");
    if (!names_file(option)) put_choices(option->value);
    printf("' ;;\n");
  }
  printf("        *)\n          words='");
  put_argument(usage);
  printf("'\n          [[ $word != -* ]] || words='");
  for (const cli_option *option = options; option->name; option++) printf("%s ", option->name);
  printf("--help' ;;\n      esac ;;\n");
}

/* Without words for it, -o default completes files. bash 3.2 of macOS has no mapfile. */
static void bash(void) {
  printf("# bash completion of heed, made by: heed completion bash\n"
         "_heed() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=''\n"
         "  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
         "  if [[ $word == = ]]; then word=''; fi\n"
         "  case $((COMP_CWORD == 1))${COMP_WORDS[1]} in\n"
         "    1*) words='");
  put_verbs();
  printf("' ;;\n  esac\n  ((COMP_CWORD == 1)) || case ${COMP_WORDS[1]} in\n");
  for (size_t i = 0; cli_verbs[i]; i++) {
    cli_verb verb = *cli_verbs[i];
    cli_describe(&verb, bash_verb, &verb);
  }
  printf("  esac\n"
         "  # shellcheck disable=SC2207 # words without spaces\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _heed heed\n");
}

/* -------------------------------------------------------------------------------------------- zsh
 */

static void zsh_option(const cli_option *option) {
  const char letter = cli_option_letter(option->name);
  const bool is_long = option->name[1] == '-';
  const char *equals = option->kind == CLI_FLAG || !is_long ? "" : "=";
  printf(" \\\n        ");
  if (option->kind == CLI_TEXTS) printf("'*'");
  if (letter)
    printf("'(-%c %s)'{-%c,%s%s}'[", letter, option->name, letter, option->name, equals);
  else
    printf("'%s%s[", option->name, equals);
  put_short(option->help, "'\\''");
  printf("]");
  if (option->kind != CLI_FLAG) {
    printf(":value:");
    if (names_file(option)) {
      printf("_files");
    } else if (has_choices(option->value)) {
      printf("(");
      put_choices(option->value);
      printf(")");
    } else {
      printf(" ");
    }
  }
  printf("'");
}

static void zsh_verb(void *user, const char *usage, const cli_option *options) {
  const cli_verb *verb = user;
  printf("    %s)\n      _arguments", verb->name);
  for (const cli_option *option = options; option->name; option++) zsh_option(option);
  printf(" \\\n        '(-h --help)'{-h,--help}'[print the options]' \\\n        '*:argument:");
  if (strstr(usage, "[VERB]") || strstr(usage, "bash|")) {
    printf("(");
    put_argument(usage);
    printf(")");
  } else {
    printf("_files");
  }
  printf("' ;;\n");
}

static void zsh(void) {
  printf("#compdef heed\n# zsh completion of heed, made by: heed completion zsh\n_heed() {\n"
         "  local -a verbs=(\n");
  for (size_t i = 0; cli_verbs[i]; i++) {
    printf("    '%s:", cli_verbs[i]->name);
    put_short(cli_verbs[i]->summary, "'\\''");
    printf("'\n");
  }
  printf("  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\n  fi\n"
         "  shift words\n  ((CURRENT--))\n  case $words[1] in\n");
  for (size_t i = 0; cli_verbs[i]; i++) {
    cli_verb verb = *cli_verbs[i];
    cli_describe(&verb, zsh_verb, &verb);
  }
  printf("  esac\n}\nif [[ $funcstack[1] == _heed ]]; then\n  _heed \"$@\"\nelse\n  compdef _heed "
         "heed\nfi\n");
}

/* ------------------------------------------------------------------------------------------- fish
 */

static void fish_verb(void *user, const char *usage, const cli_option *options) {
  const cli_verb *verb = user;
  printf("complete -c heed -n __fish_use_subcommand -f -a %s -d '", verb->name);
  put_short(verb->summary, "\\'");
  printf("'\n");
  for (const cli_option *option = options; option->name; option++) {
    const char letter = cli_option_letter(option->name);
    printf("complete -c heed -n '__fish_seen_subcommand_from %s'", verb->name);
    if (letter) printf(" -s %c", letter);
    printf(option->name[1] == '-' ? " -l %s" : " -s %s",
           option->name + 1 + (option->name[1] == '-'));
    if (option->kind != CLI_FLAG) printf(names_file(option) ? " -r -F" : " -x");
    if (!names_file(option) && has_choices(option->value)) {
      printf(" -a '");
      put_choices(option->value);
      printf("'");
    }
    printf(" -d '");
    put_short(option->help, "\\'");
    printf("'\n");
  }
  if (!strstr(usage, "[VERB]") && !strstr(usage, "bash|")) return;
  printf("complete -c heed -n '__fish_seen_subcommand_from %s' -f -a '", verb->name);
  put_argument(usage);
  printf("'\n");
}

static void fish(void) {
  printf("# fish completion of heed, made by: heed completion fish\n");
  for (size_t i = 0; cli_verbs[i]; i++) {
    cli_verb verb = *cli_verbs[i];
    cli_describe(&verb, fish_verb, &verb);
  }
  printf("complete -c heed -s h -l help -d 'print the options'\n");
}

static int completion(cli_state *cli, int argc, char **argv) {
  static const struct {
    const char *name;
    void (*print)(void);
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  const cli_option none[] = {{NULL, CLI_FLAG, NULL, NULL, NULL}};
  cli_words words;
  const int code =
      cli_parse(cli,
                "completion bash|zsh|fish\n\nFor one session: source <(heed completion "
                "bash); heed completion fish | source",
                none, argc, argv, &words);
  if (code >= 0) return code;
  for (size_t i = 0; words.count == 1 && i < sizeof shells / sizeof *shells; i++)
    if (strcmp(words.word[0], shells[i].name) == 0) {
      shells[i].print();
      return CLI_OK;
    }
  fprintf(stderr, "heed completion: unknown shell (found %s%s%s, expected bash, zsh or fish)\n",
          words.count ? "\"" : "", words.count ? CLI_SHOWN(words.word[0]) : "none",
          words.count ? "\"" : "");
  return CLI_USAGE;
}

const cli_verb cli_verb_completion = {"completion", "print what a shell completes", completion};
