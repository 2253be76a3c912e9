/* What a figure shows, in numbers: the mean of its maps, each map's largest weight, and the scales
 * of both. */
#ifndef HEED_NATIVE_FIGURE_NUMBERS_H
#define HEED_NATIVE_FIGURE_NUMBERS_H

#include "figure/scale.h"

typedef struct figure_numbers {
  double *mean;    /* [rows * columns] over all maps */
  double *largest; /* [layers * heads] weight of each map */
  double mean_largest;
  heed_scale scale, mean_scale; /* of the maps, and of their mean on the picture */
} figure_numbers;

/* Statuses: INVALID_ARGUMENT. */
heed_status heed_figure_check_desc(const heed_figure_desc *desc, heed_error *error);
/* Statuses: OUT_OF_MEMORY; then nothing is to be freed. */
heed_status heed_figure_measure(heed_context *context, const heed_figure_desc *desc,
                                figure_numbers *numbers, heed_error *error);
void heed_figure_numbers_free(heed_context *context, figure_numbers *numbers);
/* What the tokens before the patches are called together. */
const char *heed_figure_prefix_name(const heed_figure_desc *desc);
/* What the colours mean, a sentence or two. */
const char *heed_figure_scale_words(const heed_figure_desc *desc, const figure_numbers *numbers);

#endif
