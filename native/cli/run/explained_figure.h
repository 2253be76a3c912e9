/* A figure of heed run --explain. */
#ifndef HEED_CLI_RUN_EXPLAINED_FIGURE_H
#define HEED_CLI_RUN_EXPLAINED_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#define RUN_EXPLAINED_TITLE_SIZE 240
#define RUN_EXPLAINED_CAPTION_SIZE 800

/* Panels of the patches in colours, and words. */
typedef struct run_explained_figure {
  float *rgb; /* [rows, columns, patches, 3] */
  uint32_t rows, columns;
  bool of_query; /* the query is marked */
  bool levels;   /* columns are levels, else heads */
  char title[RUN_EXPLAINED_TITLE_SIZE], caption[RUN_EXPLAINED_CAPTION_SIZE];
} run_explained_figure;

#endif
