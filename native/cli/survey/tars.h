/* Pictures in tar archives, as webdatasets are. An archive is read as a stream, from its beginning
 * to its end, so that memory does not grow with it. Members with one name up to its first dot are a
 * sample; the text of its .cls is the label of its pictures. */
#ifndef HEED_CLI_SURVEY_TARS_H
#define HEED_CLI_SURVEY_TARS_H

#include "heed/native.h"
#include "session/sha256.h"
#include "terminal/cli.h"

typedef struct survey_tar {
  const char *path; /* borrowed; of stdin: "stdin" */
  FILE *kept;       /* a copy of what cannot be read twice, or NULL */
  uint64_t count;   /* pictures; one more where the archive breaks off, which is a bad picture */
} survey_tar;

typedef struct survey_tars {
  survey_tar *tar;
  uint32_t tar_count;
  uint64_t count;                   /* pictures of all of them */
  struct survey_tar_stream *stream; /* what is open, or NULL */
} survey_tars;

/* Whether a file's name ends as tar archives do: .tar, .tgz, or .tar.gz, .bz2, .xz and .zst. */
bool survey_is_tar_name(const char *path);
/* Reads through one more archive ("-" is stdin, which goes to a file first) and counts its
 * pictures: files whose names end as pictures do. Their paths, ARCHIVE/MEMBER, are added to `hash`,
 * a line each; `most` are allowed. One that cannot be read, or is no archive, is one bad picture.
 * Statuses: INVALID_FILE (too many, or none), IO, OUT_OF_MEMORY, UNSUPPORTED (a build without
 * libarchive). */
heed_status survey_tars_add(cli_state *cli, const char *path, uint64_t most, sha256 *hash,
                            survey_tars *tars);
void survey_tars_close(survey_tars *tars);

/* A picture of an archive. All is malloc'ed. */
typedef struct survey_member {
  char *path, *label; /* label: NULL where it has none */
  unsigned char *bytes;
  size_t size;
  char *why; /* why there are no bytes, or NULL */
} survey_member;
void survey_member_free(survey_member *member);
/* Picture `index` of all archives, of `most` bytes (0: HEED_IMAGE_MAX_BYTES). Forward it goes on
 * from where the last one was, backward it begins anew. One thread at a time. Statuses:
 * OUT_OF_MEMORY. */
heed_status survey_tars_get(cli_state *cli, survey_tars *tars, uint64_t index, size_t most,
                            survey_member *member);
/* The same by its path. *member has no path where there is no such picture, or the path is not one
 * of an archive. Statuses: OUT_OF_MEMORY. */
heed_status survey_tar_find(cli_state *cli, const char *path, size_t most, survey_member *member);

#endif
