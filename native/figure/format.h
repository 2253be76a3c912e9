/* The format of a figure, by its name's ending. */
#ifndef HEED_NATIVE_FIGURE_FORMAT_H
#define HEED_NATIVE_FIGURE_FORMAT_H

#include "heed/native.h"

typedef enum figure_format { FIGURE_PNG, FIGURE_SVG, FIGURE_PDF } figure_format;

/* Statuses: INVALID_ARGUMENT. */
heed_status heed_figure_format(const char *path, figure_format *format, heed_error *error);

#endif
