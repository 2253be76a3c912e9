/* The format of a figure, and whether this build draws figures at all. See format.h. */
#include "figure/format.h"

#include <string.h>

#include "base/status.h"
#include "files/names.h"

/* Whether the ending is this one, in any capitals. */
static bool is_ending(const char *ending, const char *lower) {
  for (; *ending && *lower; ending++, lower++)
    if (*ending != *lower && !(*ending >= 'A' && *ending <= 'Z' && *ending + 32 == *lower))
      return false;
  return *ending == *lower;
}

heed_status heed_figure_format(const char *path, figure_format *format, heed_error *error) {
  static const char *const endings[] = {".png", ".svg", ".pdf"};
  const char *name = heed_last_name(path), *ending = strrchr(name, '.');
  *format = FIGURE_PNG;
  if (!ending || ending == name) return HEED_OK;
  for (int i = 0; i < 3; i++)
    if (is_ending(ending, endings[i])) {
      *format = (figure_format)i;
      return HEED_OK;
    }
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "%.200s: unknown format of a figure (found \"%.40s\", expected .png, .svg or "
                   ".pdf)",
                   path, ending);
}

heed_status heed_figure_check(const char *path, heed_error *error) {
  figure_format format;
#if !HEED_HAS_CAIRO
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%.200s: this build of heed draws no figures (found no cairo when it was "
                   "configured, expected cairo 1.16 or later; on Debian: libcairo2-dev)",
                   path);
#endif
  return heed_figure_format(path, &format, error);
}

#if !HEED_HAS_CAIRO
heed_status heed_figure_write(heed_context *context, const heed_figure_desc *desc, const char *path,
                              heed_error *error) {
  (void)context;
  (void)desc;
  return heed_figure_check(path, error);
}

heed_status heed_sheet_write(const heed_sheet *sheet, const heed_sheet_desc *desc, const char *path,
                             heed_error *error) {
  (void)desc;
  return sheet ? heed_figure_check(path, error)
               : heed_fail(error, HEED_INVALID_ARGUMENT, "sheet: NULL argument (expected a sheet)");
}
#endif
