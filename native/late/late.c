/* dlopen and dlsym for a table of functions. See late.h. */
#define _POSIX_C_SOURCE 200809L
#include "late/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MOST_FILES 4

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static heed_status fail(const heed_late *late, const char *missing, heed_error *error) {
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: a library is missing (found no %s, expected the one that heed was built "
                   "with; on Debian: %s)",
                   late->what, missing, late->debian);
}

/* Libraries stay open: what they gave out may be anywhere. */
static heed_status fill(const heed_late *late, heed_error *error) {
  void *library[MOST_FILES];
  size_t files = 0;
  for (; files < MOST_FILES && late->files[files]; files++) {
    library[files] = dlopen(late->files[files], RTLD_NOW | RTLD_LOCAL);
    if (!library[files]) return fail(late, late->files[files], error);
  }
  for (size_t i = 0; late->names[i]; i++) {
    void *found = NULL;
    for (size_t f = 0; f < files && !found; f++) found = dlsym(library[f], late->names[i]);
    if (!found) return fail(late, late->names[i], error);
    memcpy((char *)late->table + i * sizeof found, &found, sizeof found);
  }
  return HEED_OK;
}

heed_status heed_late_open(heed_late *late, heed_error *error) {
  heed_status status = HEED_OK;
  if (atomic_load(&late->state)) return HEED_OK;
  pthread_mutex_lock(&one_at_a_time);
  if (!atomic_load(&late->state)) status = fill(late, error);
  if (status == HEED_OK) atomic_store(&late->state, 1);
  pthread_mutex_unlock(&one_at_a_time);
  return status;
}
