/* Tar archives by libarchive. See tars.h. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/os.h"
#include "late/archive.h"
#include "list.h"
#include "tars.h"
#include "terminal/picture_list.h"

#define LABEL_SIZE 64
#define FIRST_BYTES 65536 /* of a member; a header may promise more than there is */

/* An archive that is read. */
typedef struct survey_tar_stream {
  const survey_tar *tar;
  FILE *file;
  struct archive *reader;
  struct archive_entry *entry; /* the header that was read last; NULL: at the end */
  bool waits;                  /* that entry was looked at, and is still to be taken */
  uint64_t next;               /* the picture that comes next */
  char why[256];               /* why there is no entry, or "" */
  char sample[256], label[LABEL_SIZE];
} tar_stream;

/* ---------------------------------------------------------------------------------------- streams
 */

static void close_stream(tar_stream *stream) {
  if (!stream) return;
  archive_read_free(stream->reader);
  if (stream->file && stream->file != stream->tar->kept) fclose(stream->file);
  free(stream);
}

static void note_failure(tar_stream *stream, const char *why) {
  snprintf(stream->why, sizeof stream->why, "%s", why ? why : "unknown reason");
  stream->entry = NULL;
}

/* No filter that would start another program. */
static void choose_formats(struct archive *reader) {
  archive_read_support_filter_gzip(reader);
  archive_read_support_filter_bzip2(reader);
  archive_read_support_filter_xz(reader);
  archive_read_support_filter_zstd(reader);
  archive_read_support_format_tar(reader);
}

/* A pipe that nobody writes would hold the survey for ever. */
static FILE *open_file(const char *path, const char **why) {
  heed_os_info info;
  if (heed_os_look(path, &info) && info.kind != HEED_OS_REGULAR) {
    *why = "not a file";
    return NULL;
  }
  FILE *file = heed_os_stream(path, "rb");
  if (!file) *why = strerror(errno);
  return file;
}

/* What cannot be opened is a stream at its end, with the reason. */
static heed_status open_stream(cli_state *cli, const survey_tar *tar, tar_stream **stream) {
  const char *why = NULL;
  *stream = NULL;
  CLI_TRY(heed_late_open_archive(&cli->error));
  tar_stream *made = calloc(1, sizeof *made);
  *stream = made;
  if (!made) return heed_fail_memory(&cli->error, tar->path, sizeof *made);
  made->tar = tar;
  made->reader = archive_read_new();
  if (!made->reader) return heed_fail_memory(&cli->error, tar->path, sizeof *made);
  choose_formats(made->reader);
  made->file = tar->kept ? tar->kept : open_file(tar->path, &why);
  if (tar->kept) rewind(tar->kept);
  if (!made->file)
    note_failure(made, why);
  else if (archive_read_open_FILE(made->reader, made->file) != ARCHIVE_OK)
    note_failure(made, archive_error_string(made->reader));
  return HEED_OK;
}

static const char *name_of(struct archive_entry *entry) {
  const char *name = archive_entry_pathname_utf8(entry);
  if (!name) name = archive_entry_pathname(entry);
  return name ? name : "";
}

static bool is_file(struct archive_entry *entry) {
  return archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
}

static bool is_picture(struct archive_entry *entry) {
  const char *name = name_of(entry), *slash = strrchr(name, '/');
  return is_file(entry) && (slash ? slash[1] : name[0]) != '.' && cli_is_picture_name(name);
}

/* Goes to the next header; false at the end. */
static bool step(tar_stream *stream) {
  if (*stream->why) return false;
  if (stream->waits) {
    stream->waits = false;
    return true;
  }
  const int code = archive_read_next_header(stream->reader, &stream->entry);
  if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return true;
  if (code == ARCHIVE_EOF)
    stream->entry = NULL;
  else
    note_failure(stream, archive_error_string(stream->reader));
  return false;
}

/* ---------------------------------------------------------------------------------------- samples
 */

/* The name up to the first dot of its last part. */
static size_t sample_length(const char *name) {
  const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
  return (size_t)(last - name) + strcspn(last, ".");
}

static bool is_of_sample(const tar_stream *stream, const char *name) {
  const size_t length = sample_length(name);
  return length < sizeof stream->sample && strlen(stream->sample) == length &&
         memcmp(stream->sample, name, length) == 0;
}

/* Takes the label where the entry is one; a new sample has none. */
static void note_sample(tar_stream *stream) {
  const char *name = name_of(stream->entry);
  const size_t length = sample_length(name);
  if (!is_of_sample(stream, name)) {
    stream->label[0] = '\0';
    snprintf(stream->sample, sizeof stream->sample, "%.*s",
             length < sizeof stream->sample ? (int)length : 0, name);
  }
  if (!is_file(stream->entry) || strcmp(name + length, ".cls") != 0 ||
      archive_entry_size(stream->entry) >= LABEL_SIZE)
    return;
  const la_ssize_t size = archive_read_data(stream->reader, stream->label, LABEL_SIZE - 1);
  stream->label[size > 0 ? size : 0] = '\0';
  stream->label[strcspn(stream->label, "\r\n")] = '\0';
}

/* A label may come after its picture. */
static void look_for_label(tar_stream *stream) {
  while (!*stream->label && step(stream)) {
    if (is_picture(stream->entry) || !is_of_sample(stream, name_of(stream->entry))) {
      stream->waits = true;
      return;
    }
    note_sample(stream);
  }
}

/* ---------------------------------------------------------------------------------------- members
 */

static heed_status set_text(cli_state *cli, char **to, const char *text) {
  *to = strdup(text);
  return *to ? HEED_OK : heed_fail_memory(&cli->error, "images", strlen(text) + 1);
}

static heed_status set_path(cli_state *cli, const survey_tar *tar, const char *name, char **path) {
  const size_t size = strlen(tar->path) + strlen(name) + 2;
  *path = malloc(size);
  if (!*path) return heed_fail_memory(&cli->error, "images", size);
  snprintf(*path, size, "%s/%s", tar->path, name);
  return HEED_OK;
}

static heed_status set_why(cli_state *cli, survey_member *member, const char *what,
                           const char *why) {
  char text[512];
  snprintf(text, sizeof text, "%.200s: %s (%s)", member->path, what, why);
  free(member->bytes);
  member->bytes = NULL;
  member->size = 0;
  return set_text(cli, &member->why, text);
}

static heed_status grow(cli_state *cli, survey_member *member, size_t *room, size_t most) {
  const size_t wanted = *room ? 2 * *room : FIRST_BYTES, size = wanted < most ? wanted : most;
  unsigned char *grown = realloc(member->bytes, size);
  if (!grown) return heed_fail_memory(&cli->error, member->path, size);
  member->bytes = grown;
  *room = size;
  return HEED_OK;
}

/* One byte beyond `most` tells that there are more. */
static heed_status read_bytes(cli_state *cli, tar_stream *stream, size_t most,
                              survey_member *member) {
  size_t room = 0;
  la_ssize_t got = 1;
  while (got > 0 && member->size <= most) {
    if (member->size == room) CLI_TRY(grow(cli, member, &room, most + 1));
    got = archive_read_data(stream->reader, member->bytes + member->size, room - member->size);
    if (got > 0) member->size += (size_t)got;
  }
  if (got < 0) {
    const char *why = archive_error_string(stream->reader);
    return set_why(cli, member, "cannot read the file", why ? why : "unknown reason");
  }
  if (member->size > most)
    return set_why(cli, member, "file too large", "--most-bytes N takes larger ones");
  return HEED_OK;
}

static heed_status take_member(cli_state *cli, tar_stream *stream, size_t most,
                               survey_member *member) {
  stream->next++;
  CLI_TRY(set_path(cli, stream->tar, name_of(stream->entry), &member->path));
  CLI_TRY(read_bytes(cli, stream, most ? most : HEED_IMAGE_MAX_BYTES, member));
  look_for_label(stream);
  return *stream->label ? set_text(cli, &member->label, stream->label) : HEED_OK;
}

/* The next picture, without its bytes; false: there is none. */
static bool find_picture(tar_stream *stream) {
  while (step(stream)) {
    note_sample(stream);
    if (is_picture(stream->entry)) return true;
  }
  return false;
}

/* What is left of an archive that breaks off. */
static heed_status take_end(cli_state *cli, const tar_stream *stream, survey_member *member) {
  CLI_TRY(set_text(cli, &member->path, stream->tar->path));
  return set_why(cli, member, "cannot read the archive to its end",
                 *stream->why ? stream->why : "it changed while it was read");
}

static heed_status get_of(cli_state *cli, tar_stream *stream, uint64_t index, size_t most,
                          survey_member *member) {
  for (; find_picture(stream); stream->next++)
    if (stream->next == index) return take_member(cli, stream, most, member);
  return take_end(cli, stream, member);
}

heed_status survey_tars_get(cli_state *cli, survey_tars *tars, uint64_t index, size_t most,
                            survey_member *member) {
  const survey_tar *tar = tars->tar;
  *member = (survey_member){0};
  for (; index >= tar->count; tar++) index -= tar->count;
  if (!tars->stream || tars->stream->tar != tar || tars->stream->next > index) {
    close_stream(tars->stream);
    CLI_TRY(open_stream(cli, tar, &tars->stream));
  }
  const heed_status status = get_of(cli, tars->stream, index, most, member);
  if (status != HEED_OK) survey_member_free(member);
  return status;
}

/* -------------------------------------------------------------------------------- all of an
 * archive
 */

static void add_line(sha256 *hash, const char *a, const char *b) {
  sha256_add(hash, a, strlen(a));
  if (*b) sha256_add(hash, "/", 1);
  sha256_add(hash, b, strlen(b));
  sha256_add(hash, "\n", 1);
}

static heed_status count_pictures(cli_state *cli, tar_stream *stream, uint64_t most, sha256 *hash,
                                  survey_tar *tar) {
  while (step(stream))
    if (is_picture(stream->entry)) {
      add_line(hash, tar->path, name_of(stream->entry));
      tar->count++;
      if (tar->count > most) break;
    }
  if (*stream->why) {
    add_line(hash, tar->path, "");
    tar->count++;
  }
  if (tar->count > most)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "images: too many in one run (found more than %llu, expected at most that; "
                     "--most-images N takes more)",
                     (unsigned long long)most);
  return tar->count ? HEED_OK
                    : heed_fail(&cli->error, HEED_INVALID_FILE,
                                "%s: an archive without images (expected names that end in .png, "
                                ".jpg, .webp or .tif)",
                                tar->path);
}

heed_status survey_tars_add(cli_state *cli, const char *path, uint64_t most, sha256 *hash,
                            survey_tars *tars) {
  const bool standard = strcmp(path, "-") == 0;
  tar_stream *stream = NULL;
  survey_tar *grown = realloc(tars->tar, (tars->tar_count + (size_t)1) * sizeof *grown);
  if (!grown) return heed_fail_memory(&cli->error, "images", sizeof *grown);
  tars->tar = grown;
  survey_tar *tar = &grown[tars->tar_count++];
  *tar = (survey_tar){.path = standard ? "stdin" : path};
  if (standard) CLI_TRY(survey_list_copy(cli, stdin, "the archive", &tar->kept));
  heed_status status = open_stream(cli, tar, &stream);
  if (status == HEED_OK) status = count_pictures(cli, stream, most, hash, tar);
  close_stream(stream);
  tars->count += tar->count;
  return status;
}

void survey_tars_close(survey_tars *tars) {
  close_stream(tars->stream);
  for (uint32_t i = 0; i < tars->tar_count; i++)
    if (tars->tar[i].kept) fclose(tars->tar[i].kept);
  free(tars->tar);
  *tars = (survey_tars){0};
}

heed_status survey_tar_find(cli_state *cli, const char *path, size_t most, survey_member *member) {
  char archive[HEED_PATH_SIZE];
  *member = (survey_member){0};
  for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
    heed_os_info info;
    const int length = snprintf(archive, sizeof archive, "%.*s", (int)(slash - path), path);
    if ((size_t)length >= sizeof archive) return HEED_OK;
    if (!survey_is_tar_name(archive) || !heed_os_look(archive, &info) ||
        info.kind != HEED_OS_REGULAR)
      continue;
    const survey_tar tar = {.path = archive};
    tar_stream *stream = NULL;
    heed_status status = open_stream(cli, &tar, &stream);
    while (status == HEED_OK && !member->path && find_picture(stream))
      if (strcmp(name_of(stream->entry), slash + 1) == 0)
        status = take_member(cli, stream, most, member);
    close_stream(stream);
    if (status != HEED_OK) survey_member_free(member);
    return status;
  }
  return HEED_OK;
}
