/* The system as Windows has it. See system.h. */
#define WIN32_LEAN_AND_MEAN
#define PSAPI_VERSION 2 /* in kernel32 */
#include "system.h"

#include <windows.h>
/* after it */
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "files/os.h"

static UINT pages_before; /* the console's code page; it outlives the program */

static void set_page_back(void) { SetConsoleOutputCP(pages_before); }

/* Results and messages are UTF-8, and lines end as they do elsewhere: files are the same. */
static void set_streams(void) {
  FILE *const streams[] = {stdin, stdout, stderr};
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
    _setmode(_fileno(streams[i]), _O_BINARY);
  pages_before = GetConsoleOutputCP();
  if (pages_before == 0 || pages_before == CP_UTF8) return;
  if (SetConsoleOutputCP(CP_UTF8)) atexit(set_page_back);
}

static char *narrow(const wchar_t *wide) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
  char *text = size > 0 ? malloc((size_t)size) : NULL;
  if (text) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
  return text;
}

/* main's own words are in a code page. These live as long as the program. */
bool cli_system_begin(int *count, char ***words) {
  int there;
  wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &there);
  char **made = wide ? calloc((size_t)there + 1, sizeof *made) : NULL;
  bool whole = made != NULL;
  for (int i = 0; whole && i < there; i++) whole = (made[i] = narrow(wide[i])) != NULL;
  LocalFree(wide);
  set_streams();
  if (!whole) return false;
  *count = there;
  *words = made;
  return true;
}

bool cli_system_is_terminal(FILE *file) {
  DWORD mode;
  return GetConsoleMode((HANDLE)_get_osfhandle(_fileno(file)), &mode);
}

FILE *cli_system_take_stdout(void) {
  fflush(stdout);
  const int out = _dup(_fileno(stdout));
  if (out < 0 || _dup2(_fileno(stderr), _fileno(stdout)) < 0) return NULL;
  _setmode(out, _O_BINARY);
  return _fdopen(out, "wb");
}

/* Writing to a pipe fails for nothing else. */
bool cli_system_reader_left(FILE *file) {
  return ferror(file) && GetFileType((HANDLE)_get_osfhandle(_fileno(file))) == FILE_TYPE_PIPE;
}

bool cli_system_cache_folder(char *path, size_t size) {
  const wchar_t *local = _wgetenv(L"LOCALAPPDATA");
  char *folder = local && *local ? narrow(local) : NULL;
  const int length = folder ? snprintf(path, size, "%s\\heed", folder) : -1;
  free(folder);
  return length > 0 && (size_t)length < size;
}

int64_t cli_system_peak_bytes(void) {
  PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
  return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
             ? (int64_t)counters.PeakWorkingSetSize
             : 0;
}

bool cli_system_thread(pthread_t *thread, const pthread_attr_t *attributes,
                       void *(*work)(void *user), void *user) {
  return pthread_create(thread, attributes, work, user) == 0; /* there are no signals */
}

bool cli_memory_open(cli_memory *memory) {
  *memory = (cli_memory){.file = heed_os_temporary()};
  return memory->file != NULL;
}

bool cli_memory_close(cli_memory *memory) {
  const bool written = fflush(memory->file) == 0 && !ferror(memory->file);
  const uint64_t size = heed_os_stream_size(memory->file);
  memory->bytes = written && size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
  memory->size = (size_t)size;
  bool whole = memory->bytes && fread(memory->bytes, 1, memory->size, memory->file) == memory->size;
  fclose(memory->file);
  if (whole) return memory->bytes[memory->size] = '\0', true;
  free(memory->bytes);
  return memory->bytes = NULL, false;
}
