/* heed maps: attention maps that were saved, by heed run --save, by the page or by other programs,
 * drawn and in numbers again. In the file: attention.N [1, H, T, T] or [H, T, T] of each layer N
 * from 0; a picture, either picture [height, width, 3] as bytes or pixel_values [1, 3, height,
 * width]; metadata grid = "rows columns prefix-tokens", without which the patches after CLS are a
 * square, prefix = "CLS, register 1" their names, patch = the side of a patch in pixels, without
 * which pixel_values says it, frames = the time steps of a video, provenance, tokens = "0 5 1 2 3
 * 4", the place in the maps of CLS and its like and then of the patches row by row, without which
 * they lie so, and changes = the options of heed run that changed the attention. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/parts.h"
#include "session/token_order.h"
#include "terminal/paths.h"

#define MOST_LAYERS 1000u
#define MOST_TOKENS 65536u
#define NAME_SIZE 24 /* of a token before the patches */

typedef struct maps_job {
  heed_tensor_file *file;
  cli_pipeline pipeline; /* its info alone */
  run_result result;
  char *names; /* of the tokens before the patches, and where they are */
  const char **token_names;
} maps_job;

/* attention.N, or NULL. */
static const heed_file_tensor *layer_tensor(const maps_job *job, uint32_t layer) {
  char name[32];
  snprintf(name, sizeof name, "attention.%u", layer);
  return heed_tensor_file_find(job->file, name);
}

/* A layer behind a gap, or behind the last that is read, would be left out without a word. */
static heed_status refuse_others(cli_state *cli, const maps_job *job, const char *path) {
  const uint32_t layers = job->pipeline.info.layers;
  for (uint32_t i = 0; i < heed_tensor_file_count(job->file); i++) {
    const char *name = heed_tensor_file_get(job->file, i)->name;
    uint32_t layer;
    if (strncmp(name, "attention.", 10) != 0 || !cli_read_number(name + 10, UINT32_MAX, &layer) ||
        layer < layers)
      continue;
    if (layers == MOST_LAYERS)
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "%s: too many layers (found %s, expected at most %u layers)", path, name,
                       MOST_LAYERS);
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: missing tensor attention.%u (found %s, expected at most %u layers "
                     "without a gap)",
                     path, layers, name, MOST_LAYERS);
  }
  return HEED_OK;
}

static heed_status read_layers(cli_state *cli, maps_job *job, const char *path) {
  const heed_file_tensor *first = layer_tensor(job, 0);
  char text[HEED_SHAPE_TEXT_SIZE];
  heed_model_info *info = &job->pipeline.info;
  if (!first)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: missing tensor attention.0 (expected a file written by heed run --save "
                     "or the explorer page)",
                     path);
  for (uint32_t layer = 0; layer < MOST_LAYERS; layer++) {
    const heed_file_tensor *tensor = layer_tensor(job, layer);
    if (!tensor) break;
    const heed_shape *shape = &tensor->shape;
    const bool batch = shape->rank == 4 && shape->dim[0] == 1;
    const uint32_t *dim = shape->dim + batch;
    if (tensor->unsupported || tensor->dtype == HEED_U8 || tensor->dtype == HEED_I8 ||
        tensor->dtype == HEED_I32 || shape->rank != 3u + batch || dim[0] == 0 || dim[1] != dim[2] ||
        dim[1] < 2 || dim[1] > MOST_TOKENS ||
        (layer && (tensor->count != first->count || dim[1] != job->result.tokens)))
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "%s: invalid tensor attention.%u (found %s %s, expected floats [1, H, T, "
                       "T], the same in every layer)",
                       path, layer, tensor->dtype_name,
                       tensor->unsupported ? "" : heed_shape_text(shape, text));
    info->layers = layer + 1;
    info->heads = dim[0];
    job->result.tokens = dim[1];
  }
  CLI_TRY(refuse_others(cli, job, path));
  const size_t count = (size_t)first->count;
  if (count > SIZE_MAX / sizeof(float) / info->layers)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: maps too large (found %u layers of %zu weights)", path, info->layers,
                     count);
  job->result.attention_rows = job->result.tokens;
  job->result.kept = info->layers;
  CLI_TRY(run_make_maps(cli, info->layers, &job->result));
  for (uint32_t layer = 0; layer < info->layers; layer++) {
    float *map = run_copy_map(&job->result, layer, info->heads);
    if (!map) return heed_fail_memory(&cli->error, path, count * sizeof *map);
    CLI_TRY(heed_tensor_file_read(job->file, layer_tensor(job, layer), 0, count, map, &cli->error));
  }
  return HEED_OK;
}

/* Weights are not below 0, and rows sum to 1 but for what half precision rounds; a head that was
 * taken out has rows of zeros. The bounds are those of the page (checkWeights). */
static heed_status check_weights(cli_state *cli, const maps_job *job, const char *path) {
  const uint32_t heads = job->pipeline.info.heads, tokens = job->result.tokens;
  for (uint32_t layer = 0; layer < job->pipeline.info.layers; layer++) {
    const float *row = job->result.attention[layer];
    for (uint64_t i = 0; i < (uint64_t)heads * tokens; i++, row += tokens) {
      double sum = 0.0;
      float least = 0.0f;
      for (uint32_t k = 0; k < tokens; k++) {
        sum += (double)row[k];
        if (!(row[k] >= least)) least = row[k];
      }
      if (least == 0.0f && (sum == 0.0 || fabs(sum - 1.0) <= 0.02)) continue;
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "%s: layer %u, head %u, row %u: not weights after a softmax (found %.3g at "
                       "least and a sum of %.3g, expected 0 and 1)",
                       path, layer, (uint32_t)(i / tokens), (uint32_t)(i % tokens), (double)least,
                       sum);
    }
  }
  return HEED_OK;
}

static heed_status read_grid(cli_state *cli, maps_job *job, const char *path) {
  static const uint32_t prefixes[] = {1, 0, 5, 2, 4, 3};
  run_result *result = &job->result;
  const char *grid = heed_tensor_file_metadata(job->file, "grid");
  if (grid) {
    char rest;
    const char *frames = heed_tensor_file_metadata(job->file, "frames");
    if (!frames || !cli_read_number(frames, MOST_TOKENS, &result->frames) || !result->frames)
      result->frames = 1;
    run_set_across(result);
    const bool read = sscanf(grid, "%5u %5u %5u%c", &result->rows, &result->columns,
                             &job->pipeline.info.prefix_tokens, &rest) == 3;
    if (read && result->rows && result->columns &&
        (uint64_t)result->rows * result->columns * result->frames +
                job->pipeline.info.prefix_tokens ==
            result->tokens)
      return HEED_OK;
    return heed_fail(
        &cli->error, HEED_INVALID_FILE,
        "%s: invalid grid (found \"%.40s\", expected rows, columns and prefix tokens of %u tokens)",
        path, grid, result->tokens);
  }
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    if (result->tokens < prefixes[i] + 4) continue;
    const uint32_t patches = result->tokens - prefixes[i], side = (uint32_t)lround(sqrt(patches));
    if (side * side != patches) continue;
    result->rows = result->columns = side;
    job->pipeline.info.prefix_tokens = prefixes[i];
    return HEED_OK;
  }
  return heed_fail(&cli->error, HEED_INVALID_FILE,
                   "%s: cannot infer the patch grid from %u tokens (expected metadata grid = "
                   "\"rows columns prefix\")",
                   path, result->tokens);
}

/* Metadata prefix = "CLS, register 1", the tokens before the patches; without it the first is CLS
 * and the others are registers. */
static heed_status read_names(cli_state *cli, maps_job *job, const char *path) {
  const char *names = heed_tensor_file_metadata(job->file, "prefix"), *at = names;
  const uint32_t count = job->pipeline.info.prefix_tokens;
  job->names = calloc(count + 1u, NAME_SIZE);
  job->token_names = calloc(count + 1u, sizeof *job->token_names);
  if (!job->names || !job->token_names)
    return heed_fail_memory(&cli->error, path, (size_t)count * NAME_SIZE);
  for (uint32_t i = 0; i < count; i++) {
    char *name = job->names + (size_t)i * NAME_SIZE;
    const size_t length = at ? strcspn(at, ",") : 0;
    job->token_names[i] = name;
    if (at && (length == 0 || length >= NAME_SIZE || !at[length] != (i + 1 == count)))
      return heed_fail(
          &cli->error, HEED_INVALID_FILE,
          "%s: invalid prefix (found \"%.40s\", expected %u names of at most %d bytes)", path,
          names, count, NAME_SIZE - 1);
    if (at)
      memcpy(name, at, length);
    else if (i)
      snprintf(name, NAME_SIZE, "register %u", i);
    else
      strcpy(name, "CLS");
    if (at) at += length + 1 + strspn(at + length + (at[length] != '\0'), " ");
  }
  job->pipeline.info.token_names = job->token_names;
  return HEED_OK;
}

/* The side of a patch, the unit of distances: 1 where nothing says it. */
static heed_status read_patch(cli_state *cli, maps_job *job, const char *path) {
  const char *side = heed_tensor_file_metadata(job->file, "patch");
  const heed_file_tensor *values = heed_tensor_file_find(job->file, "pixel_values");
  uint32_t *patch = &job->pipeline.info.patch;
  if (side && cli_read_number(side, MOST_TOKENS, patch) && *patch) return HEED_OK;
  if (side)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: invalid patch (found \"%.40s\", expected 1 to %u pixels)", path, side,
                     MOST_TOKENS);
  *patch = 1;
  if (!values || values->shape.rank != 4 || values->shape.dim[2] % job->result.rows ||
      values->shape.dim[3] % job->result.columns)
    return HEED_OK;
  const uint32_t height = values->shape.dim[2] / job->result.rows;
  if (height && height == values->shape.dim[3] / job->result.columns) *patch = height;
  return HEED_OK;
}

/* pixel_values [1, 3, H, W] as a picture: the smallest value black, the largest white. */
static heed_status picture_of_values(cli_state *cli, maps_job *job,
                                     const heed_file_tensor *tensor) {
  heed_picture *image = &job->result.image;
  const size_t area = (size_t)image->width * image->height, count = 3 * area;
  float *values = malloc(count * sizeof *values), low = INFINITY, high = -INFINITY;
  if (!values) return heed_fail_memory(&cli->error, "pixel_values", count * sizeof *values);
  const heed_status status =
      heed_tensor_file_read(job->file, tensor, 0, count, values, &cli->error);
  for (size_t i = 0; status == HEED_OK && i < count; i++) {
    low = fminf(low, values[i]);
    high = fmaxf(high, values[i]);
  }
  for (size_t i = 0; status == HEED_OK && i < count; i++) {
    const float share = (values[i % 3 * area + i / 3] - low) / (high > low ? high - low : 1.0f);
    image->pixels[i] = share >= 0.0f && share <= 1.0f ? (uint8_t)lroundf(255.0f * share) : 0;
  }
  free(values);
  return status;
}

/* What the maps lie over; grey where the file has no picture. */
static heed_status read_picture(cli_state *cli, maps_job *job, const char *path) {
  heed_picture *image = &job->result.image;
  const uint32_t across = job->result.across ? job->result.across : 1,
                 frames = job->result.frames ? job->result.frames : 1,
                 rows = job->result.rows * (frames / across),
                 columns = job->result.columns * across;
  const heed_file_tensor *bytes = heed_tensor_file_find(job->file, "picture"),
                         *values = heed_tensor_file_find(job->file, "pixel_values");
  const bool whole = bytes && !bytes->unsupported && bytes->dtype == HEED_U8 &&
                     bytes->shape.rank == 3 && bytes->shape.dim[2] == 3;
  const bool planes = !whole && values && !values->unsupported && values->dtype != HEED_U8 &&
                      values->dtype != HEED_I8 && values->dtype != HEED_I32 &&
                      values->shape.rank == 4 && values->shape.dim[0] == 1 &&
                      values->shape.dim[1] == 3;
  const uint32_t *dim = whole    ? bytes->shape.dim
                        : planes ? values->shape.dim + 2
                                 : (const uint32_t[]){16 * rows, 16 * columns};
  if (dim[0] == 0 || dim[1] == 0 || (uint64_t)dim[0] * dim[1] > HEED_IMAGE_MAX_PIXELS)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: image too small or too large (found %u x %u)", path, dim[1], dim[0]);
  const size_t size = (size_t)3 * dim[0] * dim[1];
  CLI_TRY(heed_picture_create(cli->context, path, dim[1], dim[0], image, &cli->error));
  job->result.region = (heed_region){0, 0, image->width, image->height};
  if (whole) return heed_tensor_file_read(job->file, bytes, 0, size, image->pixels, &cli->error);
  if (planes) return picture_of_values(cli, job, values);
  memset(image->pixels, 128, size);
  return HEED_OK;
}

/* Puts maps of a graph with another order of tokens into heed's. */
static heed_status put_in_order(cli_state *cli, maps_job *job, const char *path) {
  const char *text = heed_tensor_file_metadata(job->file, CLI_TOKEN_ORDER);
  const uint32_t tokens = job->result.tokens, heads = job->pipeline.info.heads;
  const size_t square = (size_t)tokens * tokens;
  if (!text) return HEED_OK;
  int32_t *order = cli_token_order_read(text, tokens);
  float *map = order ? malloc(square * sizeof *map) : NULL;
  for (uint32_t i = 0; map && i < job->pipeline.info.layers * heads; i++) {
    float *head = job->result.copies[i / heads] + i % heads * square;
    memcpy(map, head, square * sizeof *map);
    cli_token_order_do(order, tokens, map, head);
  }
  const heed_status status =
      map     ? HEED_OK
      : order ? heed_fail_memory(&cli->error, path, square * sizeof *map)
              : heed_fail(&cli->error, HEED_INVALID_FILE,
                          "%s: invalid tokens (found \"%.40s\", expected each of 0 to %u once)",
                          path, text, tokens - 1);
  free(order);
  free(map);
  return status;
}

static heed_status open_maps(cli_state *cli, maps_job *job, const char *path) {
  CLI_TRY(heed_tensor_file_open(cli->context, path,
                                "maps saved as .safetensors by heed run --save or the page; the "
                                "page also opens .npy and .npz",
                                &job->file, &cli->error));
  job->result.picture = path;
  job->result.from = heed_tensor_file_metadata(job->file, "provenance");
  job->pipeline.info.family = "maps from a file";
  const char *narrowed = heed_tensor_file_metadata(job->file, "narrowed");
  if (narrowed)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: only a part of the maps (found %.100s, expected a file saved without "
                     "--layer, --head and --query)",
                     path, narrowed);
  CLI_TRY(read_layers(cli, job, path));
  CLI_TRY(check_weights(cli, job, path));
  CLI_TRY(put_in_order(cli, job, path));
  CLI_TRY(read_grid(cli, job, path));
  CLI_TRY(read_names(cli, job, path));
  CLI_TRY(read_patch(cli, job, path));
  return read_picture(cli, job, path);
}

static heed_status write_outputs(cli_state *cli, maps_job *job, const run_options *options,
                                 const run_selection *selection) {
  if (options->maps) {
    CLI_TRY(run_draw_maps(cli, &job->pipeline, options, &job->result, selection, options->maps));
    printf("maps: %s\n", CLI_SHOWN(options->maps));
  }
  if (run_wants_rollout(options))
    CLI_TRY(run_read_rollout(cli, &job->pipeline, options, selection, &job->result));
  if (options->rollout) {
    CLI_TRY(
        run_draw_rollout(cli, &job->pipeline, options, &job->result, selection, options->rollout));
    printf("rollout: %s\n", CLI_SHOWN(options->rollout));
  }
  if (!options->json) return HEED_OK;
  CLI_TRY(run_write_json(cli, &job->pipeline, options, &job->result, selection));
  printf("JSON: %s\n", CLI_SHOWN(options->json));
  return HEED_OK;
}

static heed_status show_maps(cli_state *cli, maps_job *job, const run_options *options,
                             const char *path) {
  run_selection selection;
  char query[48];
  CLI_TRY(open_maps(cli, job, path));
  CLI_TRY(run_select(cli, options, &job->pipeline.info, &job->result, &selection));
  CLI_TRY(run_read_shown(cli, &job->pipeline, options, &selection, &job->result));
  run_query_text(&job->pipeline.info, &selection, query);
  char steps[24] = "";
  if (job->result.frames > 1) snprintf(steps, sizeof steps, "%u x ", job->result.frames);
  printf("%s: maps of %u layers x %u heads, %u tokens = %s%u x %u patches and %u prefix tokens\n",
         CLI_SHOWN(path), job->pipeline.info.layers, job->pipeline.info.heads, job->result.tokens,
         steps, job->result.rows, job->result.columns, job->pipeline.info.prefix_tokens);
  const char *changes = heed_tensor_file_metadata(job->file, "changes");
  if (job->result.from) printf("from: %s\n", CLI_SHOWN(job->result.from));
  if (changes) printf("changed: %s\n", CLI_SHOWN(changes));
  printf("attention %s %s:\n", options->reverse ? "to" : "of", query);
  run_print_heads(stdout, &job->pipeline.info, &job->result, &selection);
  return write_outputs(cli, job, options, &selection);
}

static int run(cli_state *cli, int argc, char **argv) {
  run_options options = {.choice = CLI_CHOICE_INIT};
  cli_words words;
  const cli_option table[] = {RUN_MAP_OPTIONS(options, "NAME|ROW,COL"),
                              {"--json", CLI_JSON, &options.json, "OUT.json",
                               "write maps and statistics of every head, as heed run does"},
                              {"--reverse", CLI_FLAG, &options.reverse, NULL,
                               "show attention received by the query instead"},
                              RUN_ROLLOUT_OPTIONS(options.rollout_how),
                              {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(cli,
                             "maps SAVED.safetensors [options]\n\nSAVED.safetensors is a file "
                             "written by heed run --save or by the explorer page.",
                             table, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count != 1) {
    fprintf(stderr, "heed maps: wrong arguments (found %u files, expected one file)\n",
            words.count);
    return CLI_USAGE;
  }
  run_set_narrow(&options);
  maps_job job = {0};
  const cli_path paths[] = {{CLI_READ, "the saved file", words.word[0]},
                            {CLI_WRITTEN, "--maps", options.maps},
                            {CLI_WRITTEN, "--rollout", options.rollout},
                            {CLI_WRITTEN, "--json", options.json}};
  heed_status status = run_check_figures(cli, &options);
  if (status == HEED_OK) status = cli_check_paths(cli, paths, sizeof paths / sizeof *paths);
  if (status == HEED_OK) status = show_maps(cli, &job, &options, words.word[0]);
  heed_tensor_file_destroy(job.file);
  heed_picture_free(cli->context, &job.result.image);
  run_free_maps(&job.result);
  free(job.result.rollout_row);
  free(job.result.columns_of_query);
  free(job.names);
  free(job.token_names);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_maps = {"maps", "draw or summarise saved attention maps", run};
