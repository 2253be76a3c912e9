/* Scenes as JSON text, the form that the command line and the page share:
 *
 *   {"seed": 7, "clutter": 60, "noise": 4,
 *    "objects": [{"shape": "star", "colour": "red", "x": 60.5, "y": 80, "radius": 28, "angle":
 *    30}]}
 *
 * Pixels from the top left, to 1/16 of one; degrees counter-clockwise. seed, clutter, noise and
 * angle may be left out (0). */
#ifndef HEED_SCENE_JSON_H
#define HEED_SCENE_JSON_H

#include "heed/heed.h"
#include "heed/scene.h"

/* `where` begins the sentences of errors. Statuses: INVALID_FILE, OUT_OF_MEMORY. */
heed_status heed_scene_parse(const heed_context *context, const void *text, size_t size,
                             const char *where, heed_scene *scene, heed_error *error);

#define HEED_SCENE_TEXT_SIZE 4096
/* Writes the form above, NUL-terminated; returns its length. Read back, it gives the same picture
 * bit for bit. */
size_t heed_scene_text(const heed_scene *scene, char text[HEED_SCENE_TEXT_SIZE]);

#endif
