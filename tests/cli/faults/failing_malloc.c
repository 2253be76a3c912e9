/* Loaded before libc (LD_PRELOAD): the N-th allocation that the program itself asks for fails, N in
 * HEED_FAIL_ALLOCATION; or, with HEED_FAIL_STREAM, the N-th stream, folder or path that libc opens,
 * makes or reads on for it, for want of memory. With N = 0, or none, the number of them is written
 * to the descriptor 3 at the end. Those of libraries do not count: fontconfig reads through a null
 * pointer where an allocation of its own fails, which heed cannot mend. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* its inline functions are those that stand here */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ullong made;
static unsigned long long wanted;
static ElfW(Addr) first, last; /* of the program's code */
static bool counting, of_streams;

/* The program comes first. */
static int find_program(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size;
  (void)user;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    first = info->dlpi_addr + part->p_vaddr;
    last = first + part->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void begin(void) {
  const char *stream = getenv("HEED_FAIL_STREAM"),
             *text = stream ? stream : getenv("HEED_FAIL_ALLOCATION");
  of_streams = stream != NULL;
  wanted = text ? strtoull(text, NULL, 10) : 0;
  dl_iterate_phdr(find_program, NULL);
  counting = true;
}

__attribute__((destructor)) static void end(void) {
  counting = false;
  if (wanted == 0) dprintf(3, "%llu\n", (unsigned long long)made);
}

/* What a build with counts of branches does at its end is not heed's. Registered by main's first
 * allocation, this runs before the program's destructors. */
static void stop(void) { counting = false; }

static bool fails(bool stream, const void *caller) {
  static atomic_flag begun = ATOMIC_FLAG_INIT;
  const ElfW(Addr) at = (ElfW(Addr))caller;
  if (!counting || stream != of_streams || at < first || at >= last) return false;
  if (!atomic_flag_test_and_set(&begun)) atexit(stop);
  if (atomic_fetch_add(&made, 1) + 1 != wanted) return false;
  errno = ENOMEM;
  return true;
}

#define FAILS fails(false, __builtin_return_address(0))
void *malloc(size_t size) { return FAILS ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return FAILS ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return FAILS ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return FAILS ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **to, size_t alignment, size_t size) {
  if (FAILS) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to ? 0 : ENOMEM;
}

#define NEXT(name) __extension__((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define STREAM_FAILS fails(true, __builtin_return_address(0))
FILE *fopen(const char *path, const char *mode) {
  return STREAM_FAILS ? NULL : NEXT(fopen)(path, mode);
}
FILE *fdopen(int file, const char *mode) { return STREAM_FAILS ? NULL : NEXT(fdopen)(file, mode); }
FILE *open_memstream(char **text, size_t *size) {
  return STREAM_FAILS ? NULL : NEXT(open_memstream)(text, size);
}
DIR *opendir(const char *path) { return STREAM_FAILS ? NULL : NEXT(opendir)(path); }
struct dirent *readdir(DIR *folder) {
  return STREAM_FAILS ? NULL : NEXT(readdir)(folder);
}
char *strdup(const char *text) { return STREAM_FAILS ? NULL : NEXT(strdup)(text); }
char *realpath(const char *path, char *to) {
  return STREAM_FAILS ? NULL : NEXT(realpath)(path, to);
}
