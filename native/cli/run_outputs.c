/* heed run's files out: their names, of one picture and of several, and the writing. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "paths.h"
#include "run_parts.h"

/* The name of a picture's file without folder and end. */
static int own_stem(const char *picture, const char **stem) {
  const char *slash = strrchr(picture, '/');
  *stem = slash ? slash + 1 : picture;
  const char *end = strrchr(*stem, '.');
  return end ? (int)(end - *stem) : (int)strlen(*stem);
}

/* Also where only capitals differ: there are file systems for which that is one name. */
static bool is_taken(char *const *stems, uint32_t count, const char *stem) {
  for (uint32_t i = 0; i < count; i++)
    if (strcasecmp(stems[i], stem) == 0) return true;
  return false;
}

heed_status run_make_stems(cli_state *cli, const char *const *pictures, run_stems *stems) {
  stems->stem = calloc(stems->count, sizeof *stems->stem);
  if (!stems->stem) return heed_fail_memory(&cli->error, "run", stems->count * sizeof *stems->stem);
  for (uint32_t i = 0; i < stems->count; i++) {
    const char *name;
    const int length = own_stem(pictures[i], &name);
    char *stem = stems->stem[i] = malloc((size_t)length + 16);
    if (!stem) return heed_fail_memory(&cli->error, pictures[i], (size_t)length + 16);
    snprintf(stem, (size_t)length + 16, "%.*s", length, name);
    for (uint32_t number = 2; is_taken(stems->stem, i, stem); number++)
      snprintf(stem, (size_t)length + 16, "%.*s-%u", length, name, number);
  }
  return HEED_OK;
}

void run_free_stems(run_stems *stems) {
  for (uint32_t i = 0; stems->stem && i < stems->count; i++) free(stems->stem[i]);
  free(stems->stem);
  stems->stem = NULL;
}

/* "maps.png" of the picture of this stem -> "maps-chelsea.png"; without one as it is. The caller
 * frees. */
static char *output_name(const char *out, const char *stem) {
  const char *dot = strrchr(out, '.');
  if (!dot || strchr(dot, '/')) dot = out + strlen(out);
  const size_t length = strlen(out) + (stem ? strlen(stem) : 0) + 2;
  char *name = malloc(length);
  if (!name) return NULL;
  if (stem)
    snprintf(name, length, "%.*s-%s%s", (int)(dot - out), out, stem, dot);
  else
    snprintf(name, length, "%s", out);
  return name;
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

static heed_status add_paths(cli_state *cli, cli_paths *paths, const run_options *options,
                             const char *const *pictures, const run_stems *stems) {
  CLI_TRY(cli_paths_add(cli, paths, CLI_READ_MODEL, "the model's", options->model));
  if (options->scene && !scene_input_is_seed(options->scene))
    CLI_TRY(cli_paths_add(cli, paths, CLI_READ, "the scene", options->scene));
  for (uint32_t i = 0; i < stems->count && !options->scene; i++)
    CLI_TRY(cli_paths_add(cli, paths, CLI_READ, "the picture", pictures[i]));
  for (uint32_t i = 0; i < stems->count; i++) {
    const char *stem = stems->stem ? stems->stem[i] : NULL;
    CLI_TRY(add_output(cli, paths, "--maps", options->maps, stem));
    CLI_TRY(add_output(cli, paths, "--rollout", options->rollout, stem));
    CLI_TRY(add_output(cli, paths, "--save", options->save, stem));
  }
  return add_output(cli, paths, "--json", options->json, NULL);
}

heed_status run_check_paths(cli_state *cli, const run_options *options, const char *const *pictures,
                            const run_stems *stems) {
  cli_paths paths = {NULL, 0, 0};
  heed_status status = add_paths(cli, &paths, options, pictures, stems);
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

heed_status run_write_outputs(cli_state *cli, const cli_pipeline *pipeline,
                              const run_options *options, const run_result *result,
                              const run_selection *selection) {
  const struct {
    const char *out, *label;
    write_function write;
  } outputs[] = {{options->maps, "maps", run_draw_maps},
                 {options->rollout, "rollout", run_draw_rollout},
                 {options->save, "tensors", NULL}};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    if (!outputs[i].out) continue;
    char *name = output_name(outputs[i].out, result->stem);
    if (!name) return heed_fail_memory(&cli->error, outputs[i].out, strlen(outputs[i].out));
    const heed_status status =
        outputs[i].write ? outputs[i].write(cli, pipeline, options, result, selection, name)
                         : run_save_tensors(cli, pipeline, options, result, name);
    if (status == HEED_OK)
      printf("%s: %s%s\n", outputs[i].label, CLI_SHOWN(name),
             is_numbered(result) ? " (numbered: another image has this name)" : "");
    free(name);
    CLI_TRY(status);
  }
  return HEED_OK;
}
