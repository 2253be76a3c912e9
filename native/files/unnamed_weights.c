/* Weights by their first bytes. See unnamed_weights.h. */
#include "files/unnamed_weights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "files/names.h"
#include "files/os.h"
#include "files/output.h"
#include "files/regular_file.h"
#include "files/weight_file.h"
#include "heed/native.h"

#define MOST_OPENED 4096

static bool ends_as_one(const char *name, const char *const *ends) {
  for (; *ends; ends++)
    if (heed_ends_with(name, *ends)) return true;
  return false;
}

/* What people have beside weights: a text, a script, a tokenizer. */
static bool is_beside(const char *name) {
  static const char *const ends[] = {".json", ".txt", ".md",    ".py",  ".yaml", ".yml", ".csv",
                                     ".log",  ".sh",  ".ipynb", ".zip", ".npz",  ".npy", NULL};
  return name[0] == '.' || ends_as_one(name, ends) || strcmp(name, "spiece.model") == 0 ||
         strcmp(name, "tokenizer.model") == 0;
}

static bool is_part(const char *name) {
  static const char *const ends[] = {".incomplete", ".part", ".crdownload", ".download", NULL};
  return ends_as_one(name, ends);
}

static void note(heed_unnamed *found, const char *name) {
  const bool is_first = found->count == 0 || strcmp(name, found->first[0]) < 0;
  if (is_first) strcpy(found->first[1], found->first[0]);
  if (is_first || found->count == 1 || strcmp(name, found->first[1]) < 0)
    strcpy(found->first[is_first ? 0 : 1], name);
  found->count++;
}

static void look_at(const char *folder, const char *name, heed_unnamed *found, uint32_t *opened) {
  unsigned char first[HEED_KIND_BYTES];
  char path[HEED_PATH_SIZE];
  size_t count;
  if (strlen(name) >= HEED_OS_NAME_SIZE) return;
  if (is_part(name)) {
    if (!found->part[0] || strcmp(name, found->part) < 0) strcpy(found->part, name);
    return;
  }
  if (heed_is_picture_name(name)) found->pictures++;
  if (is_beside(name) || heed_is_of_training(name) || heed_is_picture_name(name)) return;
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  if ((size_t)length >= sizeof path || ++*opened > MOST_OPENED) return;
  if (heed_regular_first(path, first, &count) && heed_weights_begin(name, first, count))
    note(found, name);
}

heed_status heed_unnamed_find(const char *folder, heed_unnamed *found, heed_error *error) {
  uint32_t opened = 0;
  heed_os_folder *directory = heed_os_folder_open(folder);
  *found = (heed_unnamed){.count = 0};
  if (!directory)
    return heed_fail(error, heed_status_of_errno(errno), "%s: cannot open (%s)", folder,
                     strerror(errno));
  for (const char *name; (name = heed_os_folder_next(directory));)
    look_at(folder, name, found, &opened);
  const int reason = errno;
  heed_os_folder_close(directory);
  return reason ? heed_fail(error, heed_status_of_errno(reason), "%s: cannot read the folder (%s)",
                            folder, strerror(reason))
                : HEED_OK;
}
