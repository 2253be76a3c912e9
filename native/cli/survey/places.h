/* What the sums of a head say of where it looks: from twin to twin, by place, or by what is there.
 */
#ifndef HEED_CLI_SURVEY_PLACES_H
#define HEED_CLI_SURVEY_PLACES_H

#include "sums.h"

typedef struct survey_place {
  double share; /* of the variance of weights between patches, what the offset explains: 0 to 1 */
  double sharpness; /* mean weight where the head looks, each place counted by its weight, times the
                     * number of tokens: 1 is uniform attention */
  double peak;      /* the largest mean weight at an offset that a quarter of the patches have */
  int32_t row, column; /* that offset */
  double prefix;       /* mean weight of patch queries on the tokens before the patches */
  double twins;        /* mean weight from twin to twin, in x uniform; 0 where no scene has any */
} survey_place;

/* Zeros where no picture was mapped. */
survey_place survey_place_of(const survey_sums *sums, size_t head);
/* Pairs of patches of which the second lies so many rows and columns further. */
double survey_offset_pairs(const survey_shape *shape, int64_t row, int64_t column);
/* by_offset [2 rows - 1][2 columns - 1]: the mean weight of such a pair. */
void survey_mean_by_offset(const survey_sums *sums, size_t head, double *by_offset);
/* row [tokens]: the mean row of the first token. */
void survey_mean_first_row(const survey_sums *sums, size_t head, double *row);

/* Mean weight of patch queries on token t before the patches. */
double survey_prefix_mean(const survey_sums *sums, size_t head, uint32_t t);

/* The first rule that holds. */
typedef enum survey_habit {
  SURVEY_TWINS,      /* twins >= 8 */
  SURVEY_POSITIONAL, /* share >= 0.2, sharpness >= 4 */
  SURVEY_BY_CONTENT, /* share < 0.05, sharpness >= 8 */
  SURVEY_BROAD,      /* sharpness < 4 */
  SURVEY_MIXED,
  SURVEY_HABITS
} survey_habit;
survey_habit survey_habit_of(const survey_place *place);
extern const char *const survey_habit_names[SURVEY_HABITS];

#endif
