/* What the rows of a stored survey say beside its sums: what results and reports show of pictures.
 */
#ifndef HEED_CLI_SURVEY_FACTS_H
#define HEED_CLI_SURVEY_FACTS_H

#include "store.h"

#define SURVEY_SHOWN_FAILURES 50 /* of pictures that could not be read */

typedef struct survey_name {
  int64_t picture;
  char *path;
} survey_name;

typedef struct survey_class {
  int64_t index, pictures;
  char *name; /* NULL: it has none */
} survey_class;

typedef struct survey_failure {
  char *path, *why;
} survey_failure;

typedef struct survey_facts {
  survey_typical typical;
  survey_name *names; /* of its pictures, each once, by picture */
  size_t name_count;
  survey_class *classes; /* the most frequent first */
  size_t class_count;
  survey_failure failures[SURVEY_SHOWN_FAILURES];
  size_t failure_count;
  bool short_of_memory;
} survey_facts;

/* by: a name of survey_statistics; most: typical pictures a head. Free the facts also when it
 * fails. Statuses: IO, INVALID_FILE, OUT_OF_MEMORY. */
heed_status survey_facts_read(cli_state *cli, const survey_store *store, const survey_sums *sums,
                              size_t statistic, uint32_t most, survey_facts *facts);
void survey_facts_free(survey_facts *facts);
/* The place of a picture in `names`; name_count: it is none of them. */
size_t survey_facts_find(const survey_facts *facts, int64_t picture);

#endif
