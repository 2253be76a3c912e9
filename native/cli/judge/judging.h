/* Judging maps of many pictures: maps are made of a model's explanations, and each is put through
 * the metrics. docs/explain.md says what each means. */
#ifndef HEED_CLI_JUDGE_JUDGING_H
#define HEED_CLI_JUDGE_JUDGING_H

#include "session/pipeline.h"

typedef struct judge_metric {
  const char *name;
  const char *method;         /* of heed_explain */
  const char *tensor, *else_; /* of its tensors; the second where the target is no single logit */
  heed_curve_kind curves;     /* BOTH for a method without curves */
  const char *better;         /* "lower" or "higher" */
  bool masked;                /* needs to know where the answer is */
} judge_metric;
extern const judge_metric judge_metrics[];
enum { JUDGE_METRICS = 9, JUDGE_MOST_MAPS = 32 };

/* A mean and its spread, updated number by number (Welford 1962). */
typedef struct judge_number {
  double mean, squares;
  uint32_t count;
} judge_number;
/* Half the width of a 95 % interval of the mean, by the normal distribution; 0 of one number. */
double judge_interval(const judge_number *of);

typedef struct judge_map {
  const char *name;
  uint32_t index; /* of heed_patch_map; or one of */
#define JUDGE_CHANCE UINT32_MAX
#define JUDGE_TRUTH (UINT32_MAX - 1)
  judge_number numbers[JUDGE_METRICS];
  double *curves[JUDGE_METRICS]; /* [steps + 1] sums, of deletion and insertion */
} judge_map;

typedef struct judging {
  cli_state *cli;
  cli_choice *choice;
  cli_pipeline *pipeline;
  const char *target;
  uint32_t steps; /* of curves and of flipping */
  judge_map maps[JUDGE_MOST_MAPS];
  uint32_t map_count;
  bool wanted[JUDGE_METRICS];
  uint32_t pictures; /* that were judged */
  uint32_t right;    /* of those with a known answer, whose largest logit it is */

  /* those that wait, all of one size */
  uint32_t count, room, height, width;
  float *pixels;        /* [room, channels, height, width] */
  uint8_t *mask;        /* [room, height, width]: where the answer is, or NULL */
  heed_session *keeper; /* keeps the weights between explanations */
  heed_plan *plan;
  heed_graph *graph;
} judging;

/* "attention,ledger" and "deletion,road", or NULL for all that the pictures allow; masked: it is
 * known where the answer of each picture is. Statuses: INVALID_ARGUMENT. */
heed_status judging_choose(judging *j, const char *maps, const char *metrics, bool masked);
/* Takes a picture's pixel_values, which are copied, and its mask [height, width] or NULL; judges
 * those that wait once they are many. Statuses: those of heed_explain. */
heed_status judging_add(judging *j, const float *pixels, const uint8_t *mask, uint32_t height,
                        uint32_t width);
/* Judges those that still wait. */
heed_status judging_finish(judging *j);
void judging_close(judging *j);

/* What was found. */
void judge_print(const judging *j, const char *model);
heed_status judge_write_json(void *user, FILE *to, heed_error *error);

#endif
