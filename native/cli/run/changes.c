/* What heed run changes in a model's attention, from options to heed_changes. */
#include "changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPLACE_FROM = 2, OPTIONS = 7 };
static const char *const names[OPTIONS] = {"ablate", "replace", "replace-from", "gain",
                                           "drop",   "cut",     "temperature"};

static const char *value_of(const cli_changes *changes, int option) {
  return (const char *const[OPTIONS]){changes->ablate,     changes->replace, changes->replace_from,
                                      changes->gain,       changes->drop,    changes->cut,
                                      changes->temperature}[option];
}

bool cli_changes_any(const cli_changes *changes) {
  bool any = false;
  for (int i = 0; i < OPTIONS; i++) any = any || value_of(changes, i);
  return any;
}

/* -------------------------------------------------------------------------------------- reading */

static bool take_whole(const char **at, uint32_t *number) {
  const size_t length = strspn(*at, "0123456789");
  char digits[10];
  if (length == 0 || length >= sizeof digits) return false;
  memcpy(digits, *at, length);
  digits[length] = '\0';
  *at += length;
  return cli_read_number(digits, UINT32_MAX, number);
}

/* How a list is written: pairs with a sign between, perhaps a share, a sign after each but the
 * last; what is wrong where one is not. */
typedef struct list {
  const char *text;
  char between, after;
  bool has_share;
  uint32_t limit[2];
  const char *wrong, *expected;
} list;

typedef struct entry {
  uint32_t number[2];
  double share;
} entry;

/* The next entry of a list that is not at its end. */
static heed_status take_entry(cli_state *cli, const list *l, const char **at, entry *found) {
  const char *first = *at;
  bool good = take_whole(at, &found->number[0]) && *(*at)++ == l->between &&
              take_whole(at, &found->number[1]);
  if (good && l->has_share)
    good = *(*at)++ == '=' && cli_take_decimal(at, &found->share) && isfinite((float)found->share);
  good = good && (**at == '\0' || (*(*at)++ == l->after && **at != '\0')) &&
         found->number[0] < l->limit[0] && found->number[1] < l->limit[1];
  if (good) return HEED_OK;
  const char *end = strchr(first, l->after);
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "%s (found \"%.*s\", expected %s, %u x %u of them)", l->wrong,
                   end ? (int)(end - first) : (int)strlen(first), first, l->expected, l->limit[0],
                   l->limit[1]);
}

typedef heed_status (*take_function)(cli_change_inputs *inputs, const entry *found,
                                     heed_error *error);

static heed_status read_list(cli_state *cli, const list *l, take_function take,
                             cli_change_inputs *inputs) {
  const char *at = l->text;
  entry found;
  do {
    CLI_TRY(take_entry(cli, l, &at, &found));
    CLI_TRY(take(inputs, &found, &cli->error));
  } while (*at);
  return HEED_OK;
}

static heed_status take_head(cli_change_inputs *inputs, const entry *found, heed_error *error) {
  return heed_changes_ablate(inputs->changes, found->number[0], found->number[1], error);
}

static heed_status take_gain(cli_change_inputs *inputs, const entry *found, heed_error *error) {
  return heed_changes_gain(inputs->changes, found->number[0], found->number[1], (float)found->share,
                           error);
}

static heed_status take_patch(cli_change_inputs *inputs, const entry *found, heed_error *error) {
  const uint32_t prefix = inputs->tokens - inputs->rows * inputs->columns;
  return heed_changes_drop(inputs->changes,
                           prefix + found->number[0] * inputs->columns + found->number[1], error);
}

static heed_status take_pair(cli_change_inputs *inputs, const entry *found, heed_error *error) {
  return heed_changes_cut(inputs->changes, found->number[0], found->number[1], error);
}

static heed_status read_lists(cli_state *cli, const cli_changes *changes,
                              cli_change_inputs *inputs) {
  const uint32_t layers = inputs->layers, heads = inputs->heads, rows = inputs->rows,
                 columns = inputs->columns, tokens = inputs->tokens;
  const struct {
    list list;
    take_function take;
  } lists[] = {
      {{changes->ablate,
        '.',
        ',',
        false,
        {layers, heads},
        "--ablate: unknown head",
        "LAYER.HEAD[,LAYER.HEAD...]"},
       take_head},
      {{changes->gain,
        '.',
        ',',
        true,
        {layers, heads},
        "--gain: unknown head or invalid factor",
        "LAYER.HEAD=FACTOR[,...]"},
       take_gain},
      {{changes->drop,
        ',',
        ';',
        false,
        {rows, columns},
        "--drop: unknown patch",
        "ROW,COL[;ROW,COL...]"},
       take_patch},
      {{changes->cut,
        '.',
        ',',
        false,
        {tokens, tokens},
        "--cut: unknown pair of tokens",
        "QUERY.KEY[,QUERY.KEY...]"},
       take_pair},
  };
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (lists[i].list.text) CLI_TRY(read_list(cli, &lists[i].list, lists[i].take, inputs));
  return HEED_OK;
}

static heed_status read_replacement(cli_state *cli, const char *text, cli_change_inputs *inputs) {
  inputs->mean = strcmp(text, "mean") == 0;
  inputs->empty_row = strcmp(text, "uniform") == 0 ? HEED_EMPTY_ROW_MEAN : HEED_EMPTY_ROW_ZERO;
  if (inputs->mean || inputs->empty_row == HEED_EMPTY_ROW_MEAN || strcmp(text, "zero") == 0)
    return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--replace: unknown replacement (found \"%s\", expected zero, mean or uniform)",
                   text);
}

static heed_status read_temperature(cli_state *cli, const char *text, cli_change_inputs *inputs) {
  const char *at = text;
  double number;
  if (cli_take_decimal(&at, &number) && *at == '\0' && (float)number > 0.0f &&
      !isinf((float)number)) {
    inputs->temperature = (float)number;
    return HEED_OK;
  }
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--temperature: invalid temperature (found \"%s\", expected a number above 0)",
                   text);
}

heed_status cli_changes_read(cli_state *cli, const cli_changes *changes,
                             const heed_model_info *info, uint32_t rows, uint32_t columns,
                             cli_change_inputs *inputs) {
  if (!cli_changes_any(changes)) return HEED_OK;
  *inputs = (cli_change_inputs){.layers = info->layers,
                                .heads = info->heads,
                                .rows = rows,
                                .columns = columns,
                                .tokens = info->prefix_tokens + rows * columns,
                                .temperature = 1.0f};
  CLI_TRY(heed_changes_create(cli->context, info, inputs->tokens, &inputs->changes, &cli->error));
  CLI_TRY(read_lists(cli, changes, inputs));
  if (changes->replace) CLI_TRY(read_replacement(cli, changes->replace, inputs));
  inputs->resampled = changes->replace_from != NULL;
  if (inputs->resampled && (changes->replace || !changes->ablate))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--replace-from: %s (expected --ablate L.H --replace-from IMAGE)",
                     changes->replace ? "cannot be given with --replace" : "no head is ablated");
  return changes->temperature ? read_temperature(cli, changes->temperature, inputs) : HEED_OK;
}

bool cli_change_inputs_any(const cli_change_inputs *inputs) { return inputs->changes != NULL; }

void cli_change_inputs_free(cli_change_inputs *inputs) {
  heed_changes_destroy(inputs->changes);
  *inputs = (cli_change_inputs){0};
}

/* -------------------------------------------------------------------------------------- writing */

static heed_status write_inputs(cli_state *cli, const cli_pipeline *pipeline, const void *user) {
  const cli_change_inputs *inputs = user;
  return heed_changes_write(inputs->changes, pipeline->session, &cli->error);
}

void cli_change_inputs_use(cli_pipeline *pipeline, cli_change_inputs *inputs) {
  pipeline->build.intervene = true;
  pipeline->build.offset_rows = inputs->resampled;
  pipeline->build.empty_row = inputs->empty_row;
  pipeline->build.temperature = inputs->temperature;
  pipeline->write_inputs = write_inputs;
  pipeline->inputs = inputs;
}

static heed_status read_heads(cli_state *cli, const cli_pipeline *pipeline,
                              cli_change_inputs *inputs, uint32_t layer, cli_take_heads take,
                              void *user) {
  float *given;
  heed_shape shape;
  CLI_TRY(cli_pipeline_read(cli, pipeline, pipeline->tap_names[layer], &given, &shape));
  const heed_status status = take(inputs, layer, given, user, &cli->error);
  free(given);
  return status;
}

heed_status cli_change_inputs_run(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                  const float *pixel_values, cli_change_inputs *inputs,
                                  cli_take_heads take, void *user) {
  const cli_pipeline before = *pipeline;
  char(*text)[48] = calloc(inputs->layers, sizeof *text);
  const char **taps = calloc(inputs->layers, sizeof *taps);
  heed_status status =
      text && taps ? HEED_OK
                   : heed_fail_memory(&cli->error, "changes: taps", inputs->layers * sizeof *text);
  for (uint32_t i = 0; i < inputs->layers && status == HEED_OK; i++) {
    snprintf(text[i], sizeof text[i], "layer.%u.attention.output", i);
    taps[i] = text[i];
  }
  cli_pipeline_reset(pipeline);
  pipeline->build = (heed_build_desc){.struct_size = sizeof pipeline->build,
                                      .height = before.build.height,
                                      .width = before.build.width};
  pipeline->tap_names = taps;
  pipeline->tap_count = inputs->layers;
  pipeline->timed = false;
  pipeline->write_inputs = NULL;
  if (status == HEED_OK) status = cli_pipeline_run(cli, pipeline, choice, pixel_values);
  for (uint32_t i = 0; i < inputs->layers && status == HEED_OK; i++)
    status = read_heads(cli, pipeline, inputs, i, take, user);
  cli_pipeline_reset(pipeline);
  pipeline->build = before.build;
  pipeline->tap_names = before.tap_names;
  pipeline->tap_count = before.tap_count;
  pipeline->timed = before.timed;
  pipeline->write_inputs = before.write_inputs;
  free(text);
  free(taps);
  return status;
}

static heed_status take_mean(cli_change_inputs *inputs, uint32_t layer, const float *output,
                             void *user, heed_error *error) {
  (void)user;
  return heed_changes_replace(inputs->changes, layer, output, error);
}

heed_status cli_change_inputs_means(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                    const float *pixel_values, cli_change_inputs *inputs) {
  return cli_change_inputs_run(cli, pipeline, choice, pixel_values, inputs, take_mean, NULL);
}

/* -------------------------------------------------------------------------------------- telling */

char *cli_changes_text(const cli_changes *changes) {
  size_t size = 1;
  for (int i = 0; i < OPTIONS; i++)
    size += value_of(changes, i) ? strlen(names[i]) + strlen(value_of(changes, i)) + 4 : 0;
  char *text = malloc(size), *end = text;
  if (!text) return NULL;
  *text = '\0';
  for (int i = 0; i < OPTIONS; i++)
    if (value_of(changes, i))
      end += snprintf(end, size - (size_t)(end - text), "%s--%s %s", end > text ? " " : "",
                      names[i], value_of(changes, i));
  return text;
}

void cli_changes_print(const cli_changes *changes, FILE *to) {
  if (!cli_changes_any(changes)) return;
  fputs("changed:", to);
  for (int i = 0; i < OPTIONS; i++)
    if (value_of(changes, i)) fprintf(to, " --%s %s", names[i], CLI_SHOWN(value_of(changes, i)));
  fputc('\n', to);
}

void cli_changes_json(const cli_changes *changes, json_out *json) {
  if (!cli_changes_any(changes)) return;
  json_open(json, "changes", '{');
  for (int i = 0; i < OPTIONS; i++)
    if (value_of(changes, i))
      json_text(json, i == REPLACE_FROM ? "replace_from" : names[i], value_of(changes, i));
  json_close(json, '}');
}
