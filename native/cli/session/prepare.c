/* --mean, --std and their kind. See prepare.h. */
#include "prepare.h"

#include <stdlib.h>
#include <string.h>

bool cli_prepare_given(const cli_state *cli) {
  const cli_prepare_words *words = &cli->prepare;
  return words->mean || words->std || words->resample || words->crop || words->rescale;
}

/* "0.5,-0.25": numbers with commas between them. */
static bool read_numbers(const char *text, float numbers[HEED_MOST_CHANNELS], uint32_t *count) {
  for (*count = 0; *count < HEED_MOST_CHANNELS; text++) {
    double number;
    const bool negative = *text == '-';
    text += negative;
    if (!cli_take_decimal(&text, &number)) return false;
    numbers[(*count)++] = (float)(negative ? -number : number);
    if (*text != ',') return *text == '\0';
  }
  return false;
}

static heed_status take_numbers(cli_state *cli, const char *option, const char *text,
                                float numbers[HEED_MOST_CHANNELS], uint32_t *count) {
  if (!text || read_numbers(text, numbers, count)) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "%s: invalid numbers (found \"%.200s\", expected such as 0.5 or "
                   "0.485,0.456,0.406)",
                   option, text);
}

/* A number with nothing behind it. */
static heed_status take_number(cli_state *cli, const char *option, const char *text,
                               const char *expected, double *number) {
  const char *at = text;
  if (!text || (cli_take_decimal(&at, number) && *at == '\0' && *number > 0.0)) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "%s: invalid number (found \"%.200s\", expected %s)", option, text, expected);
}

heed_status cli_prepare_change(cli_state *cli, heed_preprocess *preprocess) {
  const cli_prepare_words *words = &cli->prepare;
  float mean[HEED_MOST_CHANNELS], std[HEED_MOST_CHANNELS];
  double rescale = 0.0;
  heed_preprocess_options options = {
      .struct_size = sizeof options, .mean = mean, .std = std, .resample = words->resample};
  options.squash = words->crop && strcmp(words->crop, "none") == 0;
  CLI_TRY(take_numbers(cli, "--mean", words->mean, mean, &options.mean_count));
  CLI_TRY(take_numbers(cli, "--std", words->std, std, &options.std_count));
  if (!options.squash)
    CLI_TRY(take_number(cli, "--crop", words->crop, "0.01 to 1, or none", &options.crop));
  CLI_TRY(take_number(cli, "--rescale", words->rescale, "a number above 0", &rescale));
  options.rescale = (float)rescale;
  return heed_preprocess_change(preprocess, &options, &cli->error);
}

/* "0.485,0.456,0.406", or one number where all are equal; cut behind eight. */
static void put_numbers(const char *name, const float *numbers, uint32_t channels, char *text,
                        size_t size) {
  bool equal = true;
  size_t at = strlen(text);
  for (uint32_t c = 1; c < channels; c++) equal = equal && numbers[c] == numbers[0];
  at += (size_t)snprintf(text + at, size - at, "%s ", name);
  for (uint32_t c = 0; c < (equal ? 1 : channels) && c < 8 && at < size; c++)
    at += (size_t)snprintf(text + at, size - at, "%s%g", c ? "," : "", (double)numbers[c]);
  if (!equal && channels > 8 && at < size) snprintf(text + at, size - at, ",...");
}

void cli_prepare_describe(const cli_state *cli, const heed_preprocess *preprocess,
                          const char *assumed, char *text, size_t size) {
  const uint32_t channels = preprocess->channels ? preprocess->channels : 3;
  char numbers[320] = "";
  if (!strstr(assumed, "(mean ")) { /* else they stand there */
    put_numbers("mean", preprocess->mean, channels, numbers, sizeof numbers);
    put_numbers("; std", preprocess->std, channels, numbers, sizeof numbers);
    strcat(numbers, "; ");
  }
  const char *clause = strstr(assumed, "preprocessing of "),
             *end = clause ? clause + strcspn(clause, ";") : assumed + strlen(assumed);
  snprintf(text, size, "%.*s (%s%s)%s", (int)(end - assumed), assumed, numbers,
           cli_prepare_given(cli) ? "with what the options say"
                                  : "--mean, --std, --resample and --crop set others",
           end);
}
