/* Scenes of the demo, from a seed or from text, drawn. See shim.h and
 * heed/scene.h. */
#include <string.h>

#include "base/status.h"
#include "heed/scene_json.h"
#include "shim.h"

struct heed_web_scene {
  heed_scene scene;
  char text[HEED_SCENE_TEXT_SIZE];
  uint8_t owner[HEED_SCENE_PATCHES];
  uint8_t rgba[HEED_SCENE_BYTES / 3 * 4];
};

/* From RGB at the front, the last pixel first: none is written before it was read. */
static void spread(uint8_t *rgba) {
  for (size_t i = HEED_SCENE_BYTES / 3; i-- > 0;) {
    const uint8_t pixel[3] = {rgba[3 * i], rgba[3 * i + 1], rgba[3 * i + 2]};
    memcpy(rgba + 4 * i, pixel, sizeof pixel);
    rgba[4 * i + 3] = 255;
  }
}

size_t heed_web_scene_size(void) { return sizeof(heed_web_scene); }

heed_status heed_web_scene_draw(heed_web *web, heed_web_scene *to, const char *text, size_t size,
                                uint32_t low, uint32_t high) {
  uint32_t twins[2] = {0, 0};
  if (text)
    HEED_TRY(heed_scene_parse(web->context, text, size, "scene", &to->scene, &web->error));
  else
    heed_scene_from_seed((uint64_t)high << 32 | low, NULL, &to->scene);
  heed_scene_draw(&to->scene, to->rgba, to->owner);
  spread(to->rgba);
  heed_scene_text(&to->scene, to->text);
  const bool has_twins = heed_scene_twins(&to->scene, twins);
  web->out.scene = (struct heed_web_out_scene){.text = HEED_WEB_ADDRESS(to->text),
                                               .owner = HEED_WEB_ADDRESS(to->owner),
                                               .rgba = HEED_WEB_ADDRESS(to->rgba),
                                               .side = HEED_SCENE_SIDE,
                                               .grid = HEED_SCENE_GRID,
                                               .has_twins = has_twins,
                                               .first = twins[0],
                                               .second = twins[1]};
  return HEED_OK;
}
