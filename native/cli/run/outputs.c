/* heed run's files out: their names, of one picture and of several, and the writing. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "explained.h"
#include "files/names.h"
#include "parts.h"
#include "terminal/paths.h"
#include "terminal/standard_out.h"

/* The name of a picture's file without folder and end. */
static int own_stem(const char *picture, const char **stem) {
  *stem = heed_last_name(picture);
  const char *end = strrchr(*stem, '.');
  return end ? (int)(end - *stem) : (int)strlen(*stem);
}

/* Names that are taken, by hash, with the next number to try for each. Capitals do not tell two
 * apart: there are file systems for which that is one name. */
typedef struct name_set {
  struct taken {
    const char *stem; /* NULL: free */
    uint32_t next;
  } * places;
  size_t mask; /* their number, a power of two, less 1 */
} name_set;

static struct taken *find_name(const name_set *set, const char *stem) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (const char *at = stem; *at; at++)
    hash = (hash ^ (unsigned char)tolower((unsigned char)*at)) * 1099511628211u;
  size_t i = (size_t)(hash ^ hash >> 32) & set->mask;
  while (set->places[i].stem && strcasecmp(set->places[i].stem, stem) != 0) i = (i + 1) & set->mask;
  return &set->places[i];
}

static heed_status make_stem(cli_state *cli, const char *picture, name_set *set, char **to) {
  const char *name;
  const int length = own_stem(picture, &name);
  const size_t size = (size_t)length + 16;
  char *stem = *to = malloc(size);
  if (!stem) return heed_fail_memory(&cli->error, picture, size);
  snprintf(stem, size, "%.*s", length, name);
  struct taken *own = find_name(set, stem), *at = own;
  while (at->stem) {
    snprintf(stem, size, "%.*s-%u", length, name, own->next++);
    at = find_name(set, stem);
  }
  *at = (struct taken){stem, 2};
  return HEED_OK;
}

heed_status run_make_stems(cli_state *cli, run_batch *batch) {
  name_set set = {NULL, 15};
  while (set.mask < (size_t)2 * batch->count) set.mask = 2 * set.mask + 1;
  set.places = calloc(set.mask + 1, sizeof *set.places);
  batch->stems.stem = calloc(batch->count, sizeof *batch->stems.stem);
  heed_status status =
      set.places && batch->stems.stem
          ? HEED_OK
          : heed_fail_memory(&cli->error, "run", (set.mask + 1) * sizeof *set.places);
  for (uint32_t i = 0; i < batch->count && status == HEED_OK; i++)
    status = make_stem(cli, batch->pictures[i], &set, &batch->stems.stem[i]);
  free(set.places);
  return status;
}

void run_free_stems(run_batch *batch) {
  char **stem = batch->stems.stem;
  for (uint32_t i = 0; stem && i < batch->count; i++) free(stem[i]);
  free(stem);
  batch->stems.stem = NULL;
}

/* "maps.png" of the picture of this stem -> "maps-chelsea.png"; without one as it is. The caller
 * frees. */
static char *output_name(const char *out, const char *stem) {
  const char *dot = strrchr(heed_last_name(out), '.');
  if (!dot) dot = out + strlen(out);
  const size_t length = strlen(out) + (stem ? strlen(stem) : 0) + 2;
  char *name = malloc(length);
  if (!name) return NULL;
  if (stem)
    snprintf(name, length, "%.*s-%s%s", (int)(dot - out), out, stem, dot);
  else
    snprintf(name, length, "%s", out);
  return name;
}

/* Of several methods each has a file of its own: "features.png" of pca -> "features-pca.png". */
static char *explained_name(const run_options *options, uint32_t method) {
  return output_name(options->explained,
                     run_explained_count(options) > 1 ? run_explained_name(options, method) : NULL);
}

static heed_status add_output(cli_state *cli, cli_paths *paths, const char *option, const char *out,
                              const char *stem) {
  if (!out) return HEED_OK;
  char *name = output_name(out, stem);
  const heed_status status = name ? cli_paths_add(cli, paths, CLI_WRITTEN, option, name)
                                  : heed_fail_memory(&cli->error, out, strlen(out));
  free(name);
  return status;
}

static heed_status add_explained(cli_state *cli, cli_paths *paths, const run_options *options,
                                 const char *stem) {
  for (uint32_t n = 0; options->explained && n < run_explained_count(options); n++) {
    char *own = explained_name(options, n);
    if (!own) return heed_fail_memory(&cli->error, "--explained", strlen(options->explained));
    const heed_status status = add_output(cli, paths, "--explained", own, stem);
    free(own);
    CLI_TRY(status);
  }
  return HEED_OK;
}

static heed_status add_paths(cli_state *cli, cli_paths *paths, const run_options *options,
                             const run_batch *batch) {
  CLI_TRY(cli_paths_add(cli, paths, CLI_READ_MODEL, "the model's", options->model));
  if (options->scene && !scene_input_is_seed(options->scene))
    CLI_TRY(cli_paths_add(cli, paths, CLI_READ, "the scene", options->scene));
  if (options->list && strcmp(options->list, "-") != 0)
    CLI_TRY(cli_paths_add(cli, paths, CLI_READ, "the list", options->list));
  for (uint32_t i = 0; i < batch->count && !options->scene; i++)
    CLI_TRY(cli_paths_add(cli, paths, CLI_READ, "the picture", batch->pictures[i]));
  if (options->patch_from && !options->scene)
    CLI_TRY(cli_paths_add(cli, paths, CLI_READ, "--patch-from", options->patch_from));
  for (uint32_t i = 0; i < batch->count; i++) {
    const char *stem = batch->stems.stem ? batch->stems.stem[i] : NULL;
    CLI_TRY(add_output(cli, paths, "--maps", options->maps, stem));
    CLI_TRY(add_output(cli, paths, "--rollout", options->rollout, stem));
    CLI_TRY(add_output(cli, paths, "--save", options->save, stem));
    CLI_TRY(add_explained(cli, paths, options, stem));
  }
  CLI_TRY(add_output(cli, paths, "--sheet", options->sheet, NULL));
  return add_output(cli, paths, "--json", options->json, NULL);
}

heed_status run_check_paths(cli_state *cli, const run_options *options, const run_batch *batch) {
  if (options->sheet && batch->count > HEED_SHEET_MOST)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--sheet: too many images on a page (found %u, expected at most %u)",
                     batch->count, HEED_SHEET_MOST);
  if (!options->maps && !options->rollout && !options->save && !options->json && !options->sheet &&
      !options->explained)
    return HEED_OK;
  if (batch->count > 1 && cli_is_stdout(options->save))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--save: stdout takes the tensors of one image (found %u images, expected a "
                     "file name, or heed embed)",
                     batch->count);
  if (cli_is_stdout(options->json) && cli_is_stdout(options->save))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--save and --json: one file only goes to stdout (found both)");
  cli_paths paths = {NULL, 0, 0};
  heed_status status = add_paths(cli, &paths, options, batch);
  if (status == HEED_OK) status = cli_paths_check(cli, &paths);
  cli_paths_free(&paths);
  return status;
}

typedef heed_status (*write_function)(cli_state *cli, const cli_pipeline *pipeline,
                                      const run_options *options, const run_result *result,
                                      const run_selection *selection, const char *path);

/* Whether a number was put to the stem, since another picture has the same. */
static bool is_numbered(const run_result *result) {
  const char *name;
  const int length = own_stem(result->picture, &name);
  return result->stem && strlen(result->stem) != (size_t)length;
}

static void print_written(const run_result *result, const char *label, const char *name) {
  printf("%s: %s%s\n", label, CLI_SHOWN(name),
         is_numbered(result) ? " (numbered: another image has this name)" : "");
}

static heed_status write_explained(cli_state *cli, const cli_pipeline *pipeline,
                                   const run_options *options, const run_result *result,
                                   const run_selection *selection) {
  for (uint32_t n = 0; options->explained && n < run_explained_count(options); n++) {
    char *own = explained_name(options, n), *name = own ? output_name(own, result->stem) : NULL;
    const heed_status status =
        name ? run_draw_explained(cli, pipeline, options, result, selection, n, name)
             : heed_fail_memory(&cli->error, "--explained", strlen(options->explained));
    if (status == HEED_OK) print_written(result, run_explained_name(options, n), name);
    free(own);
    free(name);
    CLI_TRY(status);
  }
  return HEED_OK;
}

heed_status run_write_outputs(cli_state *cli, const cli_pipeline *pipeline,
                              const run_options *options, const run_result *result,
                              const run_selection *selection) {
  const struct {
    const char *out, *label;
    write_function write;
  } outputs[] = {{options->maps, "maps", run_draw_maps},
                 {options->rollout, "rollout", run_draw_rollout},
                 {options->save, "tensors", run_save_tensors}};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    if (!outputs[i].out) continue;
    char *name = output_name(outputs[i].out, result->stem);
    if (!name) return heed_fail_memory(&cli->error, outputs[i].out, strlen(outputs[i].out));
    const heed_status status = outputs[i].write(cli, pipeline, options, result, selection, name);
    if (status == HEED_OK) print_written(result, outputs[i].label, name);
    free(name);
    CLI_TRY(status);
  }
  return write_explained(cli, pipeline, options, result, selection);
}
