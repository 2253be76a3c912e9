/* Scenes as input of a verb: --scene SEED | FILE.json, drawn and made into pixel_values. */
#ifndef HEED_CLI_SCENE_INPUT_H
#define HEED_CLI_SCENE_INPUT_H

#include "cli/pipeline.h"
#include "demo/scene.h"

/* A number is a seed of the demo's own level, everything else a file. Statuses: IO, INVALID_FILE, OUT_OF_MEMORY. */
heed_status scene_input_read(cli_state *cli, const char *text, heed_scene *scene);
/* "a red star at (60, 80) and a blue star at (150, 30)"; false, and "" there, when the scene has no twins. */
bool scene_input_twins(const heed_scene *scene, char text[160]);

#endif
