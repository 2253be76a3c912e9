/* Libraries that few runs need, opened when one does: each that is linked costs every start of the
 * program a millisecond, and runs code of its own in it. late.cmake makes late/NAME.h and NAME.c of
 * late/NAME.txt; code includes that header in place of the library's, and calls
 * heed_late_open_NAME before any other function of it. Where the library is static, or HEED_LATE is
 * OFF, it is linked, and that call does nothing. */
#ifndef HEED_NATIVE_LATE_LATE_H
#define HEED_NATIVE_LATE_LATE_H

#include <stddef.h>

#include "heed/heed.h"

typedef struct heed_late {
  const char *what;         /* "figures", for the sentence */
  const char *debian;       /* the package that has the files */
  const char *const *files; /* "libcairo.so.2"; the last is NULL */
  const char *const *names; /* of functions; the last is NULL */
  void *table;              /* of as many pointers to functions, in the order of the names */
  _Atomic(int) state;       /* 0: not opened */
} heed_late;

/* Fills the table, once in a process; from any thread. Statuses: UNSUPPORTED (a file or a function
 * is not there). */
heed_status heed_late_open(heed_late *late, heed_error *error);

#endif
