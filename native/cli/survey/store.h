/* The file of a survey: a database of SQLite. docs/surveys.md has its tables. What is committed
 * stays, whatever ends the program; the survey goes on from there. */
#ifndef HEED_CLI_SURVEY_STORE_H
#define HEED_CLI_SURVEY_STORE_H

#include "identity.h"
#include "terminal/cli.h"
#include "typical.h"

typedef struct survey_picture {
  int64_t id;               /* its place in the list of all shards, from 0 */
  const char *path, *label; /* label: NULL where it has none */
  uint32_t width, height;   /* of pixel_values */
  int64_t top;              /* the class, or -1 */
} survey_picture;

typedef struct survey_store survey_store;

/* Makes the file. Statuses: IO, INVALID_ARGUMENT (there is a file, or no SQLite in this build). */
heed_status survey_store_create(cli_state *cli, const char *path, const survey_identity *identity,
                                bool quiet, survey_store **store);
/* Adds what the model calls its classes, of which it has `count`. Statuses: IO. */
heed_status survey_store_name_classes(survey_store *store, const heed_model *model, uint32_t count);
/* Opens what was begun, or makes the file, and reads its sums, which are created. Statuses: IO,
 * INVALID_FILE (not a survey), INVALID_ARGUMENT (another survey). */
heed_status survey_store_resume(cli_state *cli, const char *path, const survey_identity *identity,
                                bool quiet, survey_sums *sums, survey_store **store);
/* Opens a file to read it: its identity and sums are the caller's to free. */
heed_status survey_store_open(cli_state *cli, const char *path, survey_identity *identity,
                              survey_sums *sums, survey_store **store);
/* Whether a picture's row is there. */
bool survey_store_has(const survey_store *store, int64_t picture);
/* The first picture whose heads have rows, or -1. */
int64_t survey_store_first(const survey_store *store);
/* Whether the rows of its heads have just these numbers. */
bool survey_store_same(const survey_store *store, int64_t picture, const survey_numbers *numbers);
/* The pictures that were read, and those that were not. */
void survey_store_count(const survey_store *store, int64_t *read, int64_t *failed);
/* heads: whether the numbers of each head get a row. Statuses: IO. */
heed_status survey_store_add(survey_store *store, const survey_picture *picture,
                             const survey_numbers *numbers, bool heads);
heed_status survey_store_add_failure(survey_store *store, int64_t id, const char *path,
                                     const char *sentence);
/* Makes all that was added, with these sums of it, the state that a later run finds. */
heed_status survey_store_commit(survey_store *store, const survey_sums *sums);
/* These sums in a commit of their own. */
heed_status survey_store_put(survey_store *store, const survey_sums *sums);
/* Adds the rows of another file; their pictures must be others. */
heed_status survey_store_merge(survey_store *store, const char *path);
/* Differences b - a of the images that both surveys read, by their paths. */
typedef struct survey_pairs {
  int64_t count;
  double *mean, *spread; /* [heads][SURVEY_STATISTICS]; spread: standard deviation, n - 1 */
} survey_pairs;
/* Of two files with the same heads; shape is the first one's. Free the pairs also when it fails. */
heed_status survey_store_pair(cli_state *cli, const char *a, const char *b,
                              const survey_shape *shape, survey_pairs *pairs);
void survey_pairs_free(survey_pairs *pairs);
/* Offers the rows of all heads, in the order of pictures. */
heed_status survey_store_typical(const survey_store *store, const survey_sums *sums,
                                 survey_typical *typical);
/* malloc'ed. Statuses: INVALID_FILE (there is no such picture). */
heed_status survey_store_path(const survey_store *store, int64_t picture, char **path);
/* Each class that was the largest logit's, the most frequent first. name: NULL where it has none.
 */
heed_status survey_store_classes(const survey_store *store, void *user,
                                 void (*see)(void *user, int64_t class_, const char *name,
                                             int64_t pictures));
/* Each picture that could not be read. */
heed_status survey_store_failures(const survey_store *store, void *user,
                                  void (*see)(void *user, const char *path, const char *why));
/* Up to `most` embeddings from a picture on, in the order of pictures: rows [*count][embedding],
 * pictures [*count]. */
heed_status survey_store_embeddings(const survey_store *store, int64_t from, uint32_t most,
                                    float *rows, int32_t *pictures, uint32_t *count);
/* Commits nothing. Leaves one file. NULL: nothing. */
void survey_store_close(survey_store *store);

#endif
