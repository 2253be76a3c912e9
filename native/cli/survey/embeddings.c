/* Embeddings as NumPy files. See embeddings.h. */
#include "embeddings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/os.h"
#include "terminal/tensors.h"

#define SHARD_BYTES (UINT64_C(64) << 20) /* memory stays flat also where embeddings are long */

typedef struct shards {
  cli_state *cli;
  const char *folder;
  uint32_t numbers, most; /* of an embedding; rows of a shard */
  float *rows;
  int32_t *pictures;
} shards;

static heed_status write_file(const shards *to, const char *name, uint32_t number, heed_dtype dtype,
                              const heed_shape *shape, const void *data) {
  char path[HEED_PATH_SIZE];
  cli_tensors tensors = {0};
  const int length = snprintf(path, sizeof path, "%s/%s-%05u.npy", to->folder, name, number);
  if ((size_t)length >= sizeof path)
    return heed_fail(&to->cli->error, HEED_IO, "%.200s...: path too long", to->folder);
  heed_status status = cli_tensors_lend(&tensors, name, dtype, shape, data, &to->cli->error);
  if (status == HEED_OK) status = cli_tensors_save(to->cli, &tensors, NULL, 0, path);
  cli_tensors_clear(&tensors);
  return status;
}

static heed_status write_shards(const shards *to, const survey_store *store) {
  int64_t next = 0, all = 0;
  uint32_t count, number = 0;
  for (;; number++) {
    CLI_TRY(survey_store_embeddings(store, next, to->most, to->rows, to->pictures, &count));
    if (!count) break;
    const heed_shape rows = {2, {count, to->numbers}}, ids = {1, {count}};
    CLI_TRY(write_file(to, "embeddings", number, HEED_F32, &rows, to->rows));
    CLI_TRY(write_file(to, "ids", number, HEED_I32, &ids, to->pictures));
    next = (int64_t)to->pictures[count - 1] + 1;
    all += count;
  }
  printf("embeddings: %s: %lld of %u numbers, in %u files\n", CLI_SHOWN(to->folder), (long long)all,
         to->numbers, number);
  return HEED_OK;
}

heed_status survey_write_embeddings(cli_state *cli, const survey_store *store,
                                    const survey_shape *shape, const char *folder) {
  if (!shape->embedding)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--embeddings: the survey has none (expected one that was made with "
                     "--embeddings)");
  if (!heed_os_make_folder(folder, 0777) && errno != EEXIST)
    return heed_fail(&cli->error, cli_status_of_errno(errno), "%s: cannot make the folder (%s)",
                     folder, strerror(errno));
  const uint64_t fit = SHARD_BYTES / (shape->embedding * sizeof(float));
  shards to = {.cli = cli, .folder = folder, .numbers = shape->embedding};
  to.most = fit < 1 ? 1 : fit < SURVEY_SHARD_ROWS ? (uint32_t)fit : SURVEY_SHARD_ROWS;
  to.rows = malloc((size_t)to.most * to.numbers * sizeof *to.rows);
  to.pictures = malloc(to.most * sizeof *to.pictures);
  const heed_status status =
      to.rows && to.pictures
          ? write_shards(&to, store)
          : heed_fail_memory(&cli->error, "embeddings", (size_t)to.most * to.numbers * 4);
  free(to.rows);
  free(to.pictures);
  return status;
}
