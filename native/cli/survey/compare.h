/* Two stored surveys of the same images: which heads moved. */
#ifndef HEED_CLI_SURVEY_COMPARE_H
#define HEED_CLI_SURVEY_COMPARE_H

#include "outputs.h"
#include "page.h"

/* Prints the statistics of heads whose mean moved, by a paired t-test over the images of both and
 * Holm's correction for all heads and statistics. Of the outputs it writes JSON and the report.
 * Statuses: IO, INVALID_FILE (not a survey), INVALID_ARGUMENT (other heads, fewer than 2 common
 * images, or no rows of heads). */
heed_status survey_compare(cli_state *cli, const char *a, const char *b,
                           const survey_outputs *outputs);

#define SURVEY_LEVEL 0.05 /* adjusted p below this is a head that moved */

typedef struct survey_comparison {
  const char *path_a, *path_b;
  survey_identity a, b;
  survey_sums sums_a, sums_b;
  survey_pairs pairs;
  double *t, *p; /* [heads][SURVEY_STATISTICS]; p is adjusted */
  size_t *order; /* by p */
} survey_comparison;
/* How many statistics of heads moved: the first of `order`. */
size_t survey_comparison_moved(const survey_comparison *of);
/* A heed_file_writer of `const survey_comparison`, in report_compare.c. */
heed_status survey_write_comparison(void *comparison, FILE *to, heed_error *error);

#endif
