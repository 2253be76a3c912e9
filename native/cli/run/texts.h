/* heed run with --text: a picture beside texts. texts.c runs the towers, text_outputs.c writes
 * what comes out. */
#ifndef HEED_CLI_RUN_TEXTS_H
#define HEED_CLI_RUN_TEXTS_H

#include "session/text_tower.h"
#include "terminal/options.h"
#include "terminal/tensors.h"

typedef struct compare_options {
  cli_choice *choice;
  const cli_texts *texts;
  const char *model, *picture; /* picture NULL: the one inside the program */
  const char *fit, *size, *layer, *head;
  const char *maps;      /* figure of each patch's similarity to each text */
  const char *text_maps; /* figure of the first text's attention, tokens x tokens */
  const char *json, *save;
  uint32_t width, most_patches;
  const heed_image_limits *limits;
} compare_options;

/* Prints each text's probability and writes the files that are asked for. */
heed_status compare_run(cli_state *cli, const compare_options *options);

/* Arrays are malloc'ed. */
typedef struct compare_job {
  cli_pipeline vision, text;
  const char *const *texts; /* [count] */
  uint32_t count, tokens;   /* texts; ids of each, with padding */
  int32_t *ids;             /* [count, tokens] */
  uint32_t *lengths;        /* [count], without padding */
  char (*names)[64];        /* [count, tokens]: what the ids stand for */
  float *embeds;            /* [count, E] */
  cli_tensors maps;         /* text.attention.N [count, H, tokens, tokens] */
  const char *picture;
  heed_picture image;
  heed_region region;
  uint32_t rows, columns; /* of patches */
  float *pixels, *image_embeds;
  float *similarity; /* [count, rows, columns], or NULL where patches are not projected */
  float *logits;     /* [count] */
  double *probability;
  uint32_t layer, first_head, heads; /* that --text-maps draws */
} compare_job;

/* What --layer and --head mean for the text tower. Statuses: INVALID_ARGUMENT. */
heed_status compare_choose(cli_state *cli, compare_job *job, const compare_options *options);
/* Prints the probabilities, and writes what the options ask for. */
heed_status compare_write(cli_state *cli, const compare_job *job, const compare_options *options);

#endif
