/* What a survey's rows say. See facts.h. */
#define _POSIX_C_SOURCE 200809L
#include "facts.h"

#include <stdlib.h>
#include <string.h>

static void take_class(void *user, int64_t index, const char *name, int64_t pictures) {
  survey_facts *facts = user;
  survey_class *grown = realloc(facts->classes, (facts->class_count + 1) * sizeof *grown);
  facts->short_of_memory = facts->short_of_memory || !grown;
  if (!grown) return;
  facts->classes = grown;
  grown[facts->class_count++] = (survey_class){index, pictures, name ? strdup(name) : NULL};
  facts->short_of_memory = facts->short_of_memory || (name && !grown[facts->class_count - 1].name);
}

static void take_failure(void *user, const char *path, const char *why) {
  survey_facts *facts = user;
  if (facts->failure_count == SURVEY_SHOWN_FAILURES) return;
  survey_failure *to = &facts->failures[facts->failure_count++];
  *to = (survey_failure){strdup(path), strdup(why)};
  facts->short_of_memory = facts->short_of_memory || !to->path || !to->why;
}

static int by_picture(const void *a, const void *b) {
  const int64_t x = ((const survey_name *)a)->picture, y = ((const survey_name *)b)->picture;
  return (x > y) - (x < y);
}

static heed_status read_names(cli_state *cli, const survey_store *store, survey_facts *facts) {
  const survey_typical *typical = &facts->typical;
  const size_t count = 2 * survey_heads(&typical->shape) * typical->most;
  facts->names = calloc(count + 1, sizeof *facts->names);
  if (!facts->names) return heed_fail_memory(&cli->error, "survey", count * sizeof(survey_name));
  size_t all = 0, kept = 0;
  for (size_t i = 0; i < count; i++)
    if (typical->examples[i].picture >= 0)
      facts->names[all++].picture = typical->examples[i].picture;
  qsort(facts->names, all, sizeof *facts->names, by_picture);
  for (size_t i = 0; i < all; i++)
    if (!kept || facts->names[kept - 1].picture != facts->names[i].picture)
      facts->names[kept++] = facts->names[i];
  facts->name_count = kept;
  for (size_t i = 0; i < kept; i++)
    CLI_TRY(survey_store_path(store, facts->names[i].picture, &facts->names[i].path));
  return HEED_OK;
}

heed_status survey_facts_read(cli_state *cli, const survey_store *store, const survey_sums *sums,
                              size_t statistic, uint32_t most, survey_facts *facts) {
  *facts = (survey_facts){0};
  CLI_TRY(survey_typical_create(&sums->shape, statistic, most, &facts->typical, &cli->error));
  CLI_TRY(survey_store_typical(store, sums, &facts->typical));
  CLI_TRY(read_names(cli, store, facts));
  CLI_TRY(survey_store_classes(store, facts, take_class));
  CLI_TRY(survey_store_failures(store, facts, take_failure));
  return facts->short_of_memory ? heed_fail_memory(&cli->error, "survey", sizeof *facts) : HEED_OK;
}

void survey_facts_free(survey_facts *facts) {
  for (size_t i = 0; i < facts->name_count; i++) free(facts->names[i].path);
  for (size_t i = 0; i < facts->failure_count; i++) {
    free(facts->failures[i].path);
    free(facts->failures[i].why);
  }
  for (size_t i = 0; i < facts->class_count; i++) free(facts->classes[i].name);
  free(facts->names);
  free(facts->classes);
  survey_typical_free(&facts->typical);
  *facts = (survey_facts){0};
}

size_t survey_facts_find(const survey_facts *facts, int64_t picture) {
  const survey_name wanted = {picture, NULL},
                    *found = facts->name_count ? bsearch(&wanted, facts->names, facts->name_count,
                                                         sizeof *facts->names, by_picture)
                                               : NULL;
  return found ? (size_t)(found - facts->names) : facts->name_count;
}
