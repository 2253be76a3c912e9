/* A figure of maps as a PNG file. */
#include "base/status.h"
#include "heed/native.h"

heed_status heed_figure_write(heed_context *context, const heed_figure_desc *desc, const char *path,
                              heed_error *error) {
  heed_figure figure;
  HEED_TRY(heed_figure_draw(context, desc, &figure, error));
  const heed_status status =
      heed_png_write(path, figure.pixels, figure.width, figure.height, error);
  heed_figure_free(context, &figure);
  return status;
}
