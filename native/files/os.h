/* What is asked of the operating system about files, with a file for each: os_posix.c,
 * os_windows.c. CMake chooses. Paths are UTF-8 on Windows, and bytes elsewhere. What fails sets
 * errno. */
#ifndef HEED_NATIVE_FILES_OS_H
#define HEED_NATIVE_FILES_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of a name in a folder, with its 0: Windows has 255 units, of 3 bytes each at most. */
#define HEED_OS_NAME_SIZE 768

typedef enum heed_os_kind {
  HEED_OS_REGULAR,
  HEED_OS_FOLDER,
  HEED_OS_PIPE,
  HEED_OS_DEVICE
} heed_os_kind;

typedef struct heed_os_info {
  heed_os_kind kind;
  uint64_t size;
  uint64_t links;          /* names of the file */
  uint64_t volume, number; /* which file it is, by whatever name */
  unsigned mode;           /* permissions of POSIX; 0 on Windows */
} heed_os_info;

/* Whether this character ends the name of a folder in a path. */
bool heed_os_separates(char character);
/* What is there, at the end of all links. */
bool heed_os_look(const char *path, heed_os_info *info);
/* Whether something has this name, and be it a link to nothing. */
bool heed_os_is_there(const char *path);
/* Whether nothing is there, not even a link to nothing. False where that cannot be told. */
bool heed_os_is_absent(const char *path);
/* Whether the name itself is a link, to whatever or nothing. */
bool heed_os_is_link(const char *path);

/* --------------------------------------------------------------------------------------- read */

/* A descriptor, or -1. Never waits for who would write to a pipe. */
int heed_os_open(const char *path);
/* The same of `location`, plain names with '/' between them, in the folder of the file `path`. A
 * link among the names is ELOOP. */
int heed_os_open_beneath(const char *path, const char *location);
bool heed_os_look_at(int descriptor, heed_os_info *info);
/* As pread: the bytes that were read, 0 at the end, -1 where it failed. */
ptrdiff_t heed_os_read(int descriptor, uint64_t offset, void *to, size_t count);
void heed_os_close(int descriptor);

/* The names in a folder, in no order. next gives NULL at the end, where errno is 0, and where it
 * failed; a name is valid until the call after it. */
typedef struct heed_os_folder heed_os_folder;
heed_os_folder *heed_os_folder_open(const char *path);
const char *heed_os_folder_next(heed_os_folder *folder);
void heed_os_folder_rewind(heed_os_folder *folder);
void heed_os_folder_close(heed_os_folder *folder);

/* ------------------------------------------------------------------------------------- streams */

/* As fopen, fseek, ftell and tmpfile, for files of any size; stdin without a change of its bytes.
 */
FILE *heed_os_stream(const char *path, const char *mode);
FILE *heed_os_standard_in(void);
FILE *heed_os_temporary(void);
bool heed_os_seek(FILE *file, uint64_t offset);
bool heed_os_tell(FILE *file, uint64_t *offset);
/* Bytes of an open file, and back to its beginning; 0 for a pipe, which has no size to ask for. */
uint64_t heed_os_stream_size(FILE *file);
/* A file that is not there yet, to write and read; with these permissions, or NULL. */
FILE *heed_os_create(const char *path, const unsigned *mode);

/* --------------------------------------------------------------------------------------- names */

/* Puts a file in the place of another, or of none; a folder in that of none. */
bool heed_os_replace(const char *from, const char *to);
/* Async-signal-safe on POSIX. */
void heed_os_remove(const char *path);
/* With these permissions of POSIX. Of what is there already errno is EEXIST. */
bool heed_os_make_folder(const char *path, unsigned mode);
/* One that is empty. */
void heed_os_remove_folder(const char *path);
long heed_os_process(void);

#endif
