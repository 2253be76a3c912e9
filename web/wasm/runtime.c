/* The runtime object: context, CPU backend and colour maps. See shim.h. */
#include <stdlib.h>

#include "shim.h"

_Static_assert(HEED_WEB_CODE(colormap, cividis) == HEED_COLORMAP_CIVIDIS &&
                   HEED_WEB_CODE(colormap, viridis) == HEED_COLORMAP_VIRIDIS &&
                   HEED_WEB_CODE(colormap, magma) == HEED_COLORMAP_MAGMA &&
                   HEED_WEB_CODE(colormap, inferno) == HEED_COLORMAP_INFERNO &&
                   HEED_WEB_CODE(colormap, grey) == HEED_COLORMAP_GREY,
               "the record colormap is heed_colormap");

heed_web *heed_web_create(uint32_t threads) {
  heed_web *web = heed_web_open();
  const heed_cpu_desc cpu = {sizeof cpu, threads, NULL};
  if (web && web->context &&
      heed_cpu_backend_create(web->context, &cpu, &web->backend, &web->error) != HEED_OK)
    web->backend = NULL; /* heed_web_status says it */
  return web;
}

void heed_web_destroy(heed_web *web) {
  heed_backend_destroy(web->backend);
  heed_context_destroy(web->context);
  free(web);
}

const char *heed_web_version(void) { return heed_version(); }
const char *heed_web_device(const heed_web *web) { return heed_backend_device(web->backend); }

void heed_web_colormap(heed_colormap map, uint8_t *rgb) {
  for (int i = 0; i < 256; i++) heed_colormap_rgb(map, i / 255.0, rgb + 3 * i);
}
