/* Parts of a survey. See merge.h. */
#include "merge.h"

#include <stdlib.h>

#include "embeddings.h"
#include "files/os.h"
#include "store.h"
#include "terminal/paths.h"
#include "terminal/standard_out.h"

typedef struct merged {
  survey_identity identity; /* of the first part */
  survey_sums sums;
  int64_t failed;
  bool *seen; /* [shards] */
  survey_facts facts;
} merged;

static heed_status compare(cli_state *cli, const char *path, const survey_identity *part,
                           const survey_identity *first) {
  const char *other = survey_identity_difference(part, first, false);
  return other ? heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                           "%s: a part of another survey (found other %s than in the first part)",
                           path, other)
               : HEED_OK;
}

static heed_status take_shard(cli_state *cli, merged *all, const char *path, int64_t shard) {
  const int64_t shards = all->identity.shards;
  if (shard < 1 || shard > shards)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: not a survey of heed (found shard %lld of %lld)", path, (long long)shard,
                     (long long)shards);
  if (all->seen[shard - 1])
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "%s: shard %lld of %lld, which another part is already", path,
                     (long long)shard, (long long)shards);
  all->seen[shard - 1] = true;
  return HEED_OK;
}

static heed_status take_first(cli_state *cli, merged *all, survey_identity *part) {
  all->identity = *part;
  *part = (survey_identity){0};
  all->seen = calloc((size_t)all->identity.shards + 1, sizeof *all->seen);
  if (!all->seen) return heed_fail_memory(&cli->error, "parts", (size_t)all->identity.shards);
  return survey_sums_create(&all->identity.shape, &all->sums, &cli->error);
}

static heed_status read_part(cli_state *cli, merged *all, const char *path, bool first) {
  survey_identity identity;
  survey_sums sums;
  survey_store *store = NULL;
  int64_t read, failed = 0;
  heed_status status = survey_store_open(cli, path, &identity, &sums, &store);
  if (status == HEED_OK) {
    survey_store_count(store, &read, &failed);
    if (read != sums.pictures)
      status = heed_fail(&cli->error, HEED_INVALID_FILE,
                         "%s: not a survey of heed (found sums of %lld images and %lld rows)", path,
                         (long long)sums.pictures, (long long)read);
  }
  survey_store_close(store);
  const int64_t shard = identity.shard;
  if (status == HEED_OK && first) status = take_first(cli, all, &identity);
  if (status == HEED_OK && !first) status = compare(cli, path, &identity, &all->identity);
  if (status == HEED_OK) status = take_shard(cli, all, path, shard);
  if (status == HEED_OK) status = survey_sums_merge(&all->sums, &sums, &cli->error);
  all->failed += failed;
  survey_identity_free(&identity);
  survey_sums_free(&sums);
  return status;
}

static heed_status write_whole(cli_state *cli, const survey_merge_desc *desc, merged *all,
                               int64_t parts) {
  survey_store *store = NULL;
  if (parts == all->identity.shards) all->identity.shard = all->identity.shards = 1;
  heed_status status = survey_store_create(cli, desc->out, &all->identity, desc->quiet, &store);
  for (uint32_t i = 0; status == HEED_OK && i < desc->count; i++)
    status = survey_store_merge(store, desc->parts[i]);
  if (status == HEED_OK) status = survey_store_put(store, &all->sums);
  survey_store_close(store);
  if (status != HEED_OK && store) heed_os_remove(desc->out);
  return status;
}

static heed_status check_paths(cli_state *cli, const survey_merge_desc *desc) {
  cli_paths paths = {0};
  heed_status status = cli_paths_add(cli, &paths, CLI_WRITTEN, "-o", desc->out);
  if (status == HEED_OK) status = survey_outputs_add_paths(cli, desc->outputs, &paths);
  for (uint32_t i = 0; status == HEED_OK && i < desc->count; i++)
    status = cli_paths_add(cli, &paths, CLI_READ, "PART", desc->parts[i]);
  if (status == HEED_OK) status = cli_paths_check(cli, &paths);
  cli_paths_free(&paths);
  return status;
}

/* The rows of all parts in one database: the only part, what was written, or one in memory. */
static heed_status open_rows(cli_state *cli, const survey_merge_desc *desc, merged *all,
                             survey_store **store) {
  survey_identity identity = {0};
  survey_sums sums = {0};
  heed_status status;
  *store = NULL;
  if (desc->count == 1 || desc->out) {
    status =
        survey_store_open(cli, desc->out ? desc->out : desc->parts[0], &identity, &sums, store);
  } else {
    status = survey_store_create(cli, ":memory:", &all->identity, true, store);
    for (uint32_t i = 0; status == HEED_OK && i < desc->count; i++)
      status = survey_store_merge(*store, desc->parts[i]);
  }
  survey_identity_free(&identity);
  survey_sums_free(&sums);
  return status;
}

static heed_status read_facts(cli_state *cli, const survey_merge_desc *desc, merged *all) {
  size_t statistic;
  survey_store *store;
  CLI_TRY(survey_outputs_check(cli, desc->outputs, &statistic));
  const char *embeddings = desc->outputs->embeddings;
  if (!desc->outputs->json && !desc->outputs->report && !embeddings) return HEED_OK;
  heed_status status = open_rows(cli, desc, all, &store);
  if (status == HEED_OK && embeddings)
    status = survey_write_embeddings(cli, store, &all->identity.shape, embeddings);
  if (status == HEED_OK)
    status =
        survey_facts_read(cli, store, &all->sums, statistic, desc->outputs->typical, &all->facts);
  survey_store_close(store);
  return status;
}

static void say_what_is_missing(const survey_merge_desc *desc, const merged *all) {
  const int64_t shards = all->identity.shards, done = all->sums.pictures + all->failed;
  if (desc->count < shards)
    fprintf(stderr, "heed survey: parts: not the whole survey (found %u shards of %lld)\n",
            desc->count, (long long)shards);
  else if (done < all->identity.inputs)
    fprintf(stderr,
            "heed survey: parts: not the whole survey (found %lld images of %lld; --resume goes "
            "on)\n",
            (long long)done, (long long)all->identity.inputs);
}

static heed_status merge(cli_state *cli, const survey_merge_desc *desc, merged *all) {
  CLI_TRY(check_paths(cli, desc));
  for (uint32_t i = 0; i < desc->count; i++) CLI_TRY(read_part(cli, all, desc->parts[i], i == 0));
  const merged before = *all; /* what is written becomes one shard where it is whole */
  if (desc->out) CLI_TRY(write_whole(cli, desc, all, desc->count));
  CLI_TRY(read_facts(cli, desc, all));
  survey_results results = {.model = *all->identity.model ? all->identity.model : NULL,
                            .family = all->identity.family,
                            .backend = all->identity.backend,
                            .device = all->identity.backend,
                            .sums = &all->sums,
                            .failed = all->failed,
                            .facts = all->facts.names ? &all->facts : NULL};
  survey_print(&results);
  say_what_is_missing(desc, &before);
  if (desc->out) printf("written: %s\n", CLI_SHOWN(desc->out));
  return survey_outputs_write(cli, desc->outputs, &results,
                              (survey_examples_desc){.limits = desc->limits});
}

heed_status survey_merge(cli_state *cli, const survey_merge_desc *desc) {
  merged all = {0};
  const heed_status status = merge(cli, desc, &all);
  survey_identity_free(&all.identity);
  survey_sums_free(&all.sums);
  survey_facts_free(&all.facts);
  free(all.seen);
  return status;
}
