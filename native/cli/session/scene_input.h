/* Scenes as input of a verb: --scene SEED | FILE.json, read and drawn. */
#ifndef HEED_CLI_SESSION_SCENE_INPUT_H
#define HEED_CLI_SESSION_SCENE_INPUT_H

#include "heed/native.h"
#include "heed/scene.h"
#include "pipeline.h"

/* A number is a seed of the demo's own level, everything else a file. Statuses: IO, INVALID_FILE,
 * OUT_OF_MEMORY. */
bool scene_input_is_seed(const char *text);
heed_status scene_input_read(cli_state *cli, const char *text, heed_scene *scene);
/* Where the twins are. */
typedef struct scene_twins {
  bool present;
  char text[160]; /* "red star at (60, 80) and blue star at (150, 30)"; "" without twins */
  uint32_t row[2], column[2]; /* of each twin, the patch it covers that is nearest to its centre */
  uint32_t count[2];          /* patches that each twin covers */
  uint8_t patch[2][HEED_SCENE_PATCHES]; /* these, in raster order */
} scene_twins;

/* owner as heed_scene_draw gives it. */
void scene_input_twins(const heed_scene *scene, const uint8_t *owner, scene_twins *twins);
/* How much a head looks from each twin to the other: the mean weight over all pairs of a patch of
 * one and a patch of the other, both ways, times the number of tokens. 1 is uniform attention; 0
 * where there are no such pairs. map [tokens, tokens] has the patches of scenes after `prefix`
 * tokens. */
double scene_twins_weight(const scene_twins *twins, const float *map, uint32_t prefix);
/* Draws `count` scenes from this seed on and gives each to `see`, until one fails. Statuses:
 * OUT_OF_MEMORY, those of `see`. */
heed_status scene_input_each(cli_state *cli, uint32_t seed, uint32_t count,
                             heed_status (*see)(void *user, const heed_image *image), void *user);
/* Reads and draws. Free with heed_picture_free. */
heed_status scene_input_picture(cli_state *cli, const char *text, heed_picture *picture,
                                scene_twins *twins);

#endif
