/* What a verb still needs when its options are read: the folders of its outputs, and caches. */
#include "confine.h"

#include <stdlib.h>
#include <string.h>

#include "files/os.h"
#include "heed/native.h"

#define MOST_PLACES 64

typedef struct places {
  char path[MOST_PLACES][HEED_PATH_SIZE];
  const char *named[MOST_PLACES];
  uint32_t count;
} places;

static void add(places *to, const char *path, const char *beneath) {
  if (to->count == MOST_PLACES || !path || !*path) return;
  const int length = snprintf(to->path[to->count], HEED_PATH_SIZE, "%s%s", path, beneath);
  if (length < 0 || length >= HEED_PATH_SIZE) return;
  to->named[to->count] = to->path[to->count];
  to->count++;
}

/* Where files grow that end in a pipe. */
static void add_temporary(places *to) {
  const char *folder = getenv("TMPDIR");
  add(to, folder && *folder ? folder : "/tmp", "");
}

/* The folder of an output, behind its links. */
static void add_output(places *to, const char *path) {
  char target[HEED_PATH_SIZE];
  heed_os_info info;
  if (strcmp(path, "-") == 0) {
    add_temporary(to);
    return;
  }
  if (heed_file_target(path, target) != 0) return; /* writing says why */
  if (heed_os_look(target, &info) && info.kind != HEED_OS_REGULAR) add_temporary(to);
  add(to, target, ""); /* a device or pipe */
  size_t length = strlen(target);
  while (length > 1 && target[length - 1] == '/') length--;
  while (length && target[length - 1] != '/') length--;
  if (length > 1) length--;
  target[length] = '\0';
  add(to, length ? target : ".", "");
}

/* Whether text is drawn, for which fontconfig looks at all fonts and keeps what it found. */
static bool draws(const char *const *outputs, uint32_t count) {
  static const char *const ends[] = {".png", ".svg", ".pdf"};
  for (uint32_t i = 0; i < count; i++)
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
      const size_t length = strlen(outputs[i]), tail = strlen(ends[k]);
      if (length >= tail && strcmp(outputs[i] + length - tail, ends[k]) == 0) return true;
    }
  return false;
}

/* Caches of heed, of Vulkan drivers and of fonts; devices. A rule needs a folder that is there: who
 * opens a device or draws makes what is missing. */
static void add_usual(places *to, bool make) {
  static const char *const variables[] = {"XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR",
                                          "__GL_SHADER_DISK_CACHE_PATH"};
  const char *home = getenv("HOME");
  const uint32_t before = to->count;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    add(to, getenv(variables[i]), "");
  if (home && *home) {
    if (make) heed_os_make_folder(home, 0700);
    add(to, home, "/.cache");
  }
  for (uint32_t i = before; make && i < to->count; i++)
    if (*to->path[i] == '/') heed_os_make_folder(to->path[i], 0700);
  if (home && *home) add(to, home, "/.nv");
  add(to, "/var/cache/fontconfig", "");
  add(to, "/dev", "");
}

static int confine(const cli_state *cli, const char *const *outputs, uint32_t count, bool device) {
  places *writable = calloc(1, sizeof *writable);
  heed_error error;
  uint32_t parts;
  if (!writable) {
    fprintf(stderr, "heed %s: sandbox: out of memory (requested %zu bytes)\n", cli->verb,
            sizeof *writable);
    return cli_exit_code(HEED_OUT_OF_MEMORY);
  }
  for (uint32_t i = 0; i < count; i++) add_output(writable, outputs[i]);
  add_usual(writable, device || draws(outputs, count));
  const heed_sandbox_desc desc = {sizeof desc, writable->named, writable->count};
  cli_signals_catch_refused(cli->verb);
  const heed_status status = heed_sandbox_enter(&desc, &parts, &error);
  free(writable);
  (void)status; /* a system without it: the readers are what protects */
  return -1;
}

int cli_confine(const cli_state *cli, const char *const *outputs, uint32_t count, bool device) {
  if (!cli->sandbox || strcmp(cli->sandbox, "auto") == 0)
    return confine(cli, outputs, count, device);
  if (strcmp(cli->sandbox, "off") == 0) return -1;
  fprintf(stderr, "heed %s: --sandbox: unknown value (found \"%s\", expected auto or off)\n",
          cli->verb, CLI_SHOWN(cli->sandbox));
  return CLI_USAGE;
}
