/* Shares of a survey. See shard.h. */
#include "shard.h"

#include <stdio.h>
#include <string.h>

#include "terminal/options.h"

/* Launchers, the innermost first: a step of Slurm runs in a task of an array, and so does mpirun.
 */
static const struct launcher {
  const char *rank, *count, *first; /* variables; first: of the lowest rank, NULL: it is 0 */
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL}, /* Open MPI */
    {"PMI_RANK", "PMI_SIZE", NULL},                         /* MPICH, Intel MPI */
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"}, /* job arrays */
    {"SLURM_PROCID", "SLURM_NTASKS", NULL},                                    /* srun */
    {"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", NULL},                         /* Kubernetes */
};

static bool read_variable(char *(*get)(const char *), const char *name, uint32_t *number) {
  const char *text = get(name);
  return text && cli_read_number(text, UINT32_MAX - 1, number);
}

static bool read_launcher(char *(*get)(const char *), uint32_t *shard, uint32_t *shards) {
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const struct launcher *of = &launchers[i];
    uint32_t rank, first = 0;
    if (!read_variable(get, of->rank, &rank) || !read_variable(get, of->count, shards)) continue;
    if (of->first && !read_variable(get, of->first, &first)) continue;
    if (rank < first || rank - first >= *shards) continue; /* an array with steps */
    *shard = rank - first + 1;
    return *shards <= SURVEY_MOST_SHARDS;
  }
  return false;
}

static bool read_share(const char *text, uint32_t *shard, uint32_t *shards) {
  char first[16];
  const char *slash = strchr(text, '/');
  if (!slash || (size_t)(slash - text) >= sizeof first) return false;
  memcpy(first, text, (size_t)(slash - text));
  first[slash - text] = '\0';
  return cli_read_number(first, UINT32_MAX, shard) &&
         cli_read_number(slash + 1, SURVEY_MOST_SHARDS, shards) && *shard >= 1 && *shard <= *shards;
}

bool survey_shard_read(const char *text, char *(*get)(const char *), uint32_t *shard,
                       uint32_t *shards) {
  return strcmp(text, "auto") == 0 ? read_launcher(get, shard, shards)
                                   : read_share(text, shard, shards);
}

bool survey_shard_path(const char *path, uint32_t shard, char *to, size_t size) {
  const char *place = strstr(path, "{}");
  const int length =
      place ? snprintf(to, size, "%.*s%u%s", (int)(place - path), path, shard, place + strlen("{}"))
            : snprintf(to, size, "%s", path);
  return length >= 0 && (size_t)length < size;
}
