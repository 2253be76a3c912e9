/* Which share of a survey's pictures a process takes. */
#ifndef HEED_CLI_SURVEY_SHARD_H
#define HEED_CLI_SURVEY_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SURVEY_MOST_SHARDS (UINT32_C(1) << 20)

/* "2/10"; or "auto": what the launcher of this process says (docs/surveys.md). `get` is getenv.
 * false: neither. */
bool survey_shard_read(const char *text, char *(*get)(const char *name), uint32_t *shard,
                       uint32_t *shards);
/* path with the shard's number in the place of "{}"; false where it does not fit. */
bool survey_shard_path(const char *path, uint32_t shard, char *to, size_t size);

#endif
