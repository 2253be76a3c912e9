/* Files as Windows has them, by its wide names: their narrow ones are in a code page. See os.h. */
#define WIN32_LEAN_AND_MEAN
#include "files/os.h"

#include <windows.h>
/* after it */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "heed/native.h"

/* Units of a path, with what marks a long one and a last name. */
#define MOST_UNITS (HEED_PATH_SIZE + 16)
#define LONGEST_PLAIN 240 /* beyond, a path needs the mark; folders end 12 below MAX_PATH */

static int reason_of(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_NOT_READY: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION: return EACCES;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return ENOMEM;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS: return EEXIST;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_WRITE_PROTECT: return EROFS;
    case ERROR_NO_UNICODE_TRANSLATION: return EILSEQ;
    case ERROR_CANT_RESOLVE_FILENAME: return ELOOP;
    case ERROR_BROKEN_PIPE: return EPIPE;
    default: return EIO;
  }
}

/* Sets errno to what the last call said. */
static void take_reason(void) { errno = reason_of(GetLastError()); }

/* The whole path, with the mark by which Windows takes every name as it stands, of any length. */
static bool mark(wchar_t path[MOST_UNITS]) {
  wchar_t whole[MOST_UNITS];
  const DWORD length = GetFullPathNameW(path, MOST_UNITS, whole, NULL);
  if (length == 0) return take_reason(), false;
  if (wcsncmp(whole, L"\\\\?\\", 4) == 0 || wcsncmp(whole, L"\\\\.\\", 4) == 0)
    return wcscpy(path, whole), true;
  const bool shared = wcsncmp(whole, L"\\\\", 2) == 0;
  const wchar_t *begin = shared ? L"\\\\?\\UNC" : L"\\\\?\\", *rest = shared ? whole + 1 : whole;
  if (length >= MOST_UNITS || wcslen(begin) + wcslen(rest) >= MOST_UNITS)
    return errno = ENAMETOOLONG, false;
  wcscpy(path, begin);
  wcscat(path, rest);
  return true;
}

static bool widen(const char *path, wchar_t wide[MOST_UNITS]) {
  if (!*path) return errno = ENOENT, false;
  if (strlen(path) >= HEED_PATH_SIZE) return errno = ENAMETOOLONG, false;
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MOST_UNITS))
    return take_reason(), false;
  return wcslen(wide) < LONGEST_PLAIN || mark(wide);
}

static bool narrow(const wchar_t *wide, char *path, size_t size) {
  return WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)size, NULL, NULL) > 0;
}

bool heed_os_separates(char character) { return character == '/' || character == '\\'; }

/* Others may replace and remove a file while it is read, as on POSIX. */
static HANDLE open_wide(const wchar_t *path, DWORD access, DWORD how, DWORD flags) {
  const HANDLE file =
      CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, how,
                  FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
  if (file == INVALID_HANDLE_VALUE) take_reason();
  return file;
}

static bool info_of(HANDLE file, heed_os_info *info) {
  BY_HANDLE_FILE_INFORMATION found;
  const DWORD type = GetFileType(file);
  *info = (heed_os_info){.kind = type == FILE_TYPE_PIPE ? HEED_OS_PIPE : HEED_OS_DEVICE};
  if (type == FILE_TYPE_PIPE || type == FILE_TYPE_CHAR) return true;
  if (!GetFileInformationByHandle(file, &found)) return take_reason(), false;
  *info = (heed_os_info){
      .kind = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? HEED_OS_FOLDER : HEED_OS_REGULAR,
      .size = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow,
      .links = found.nNumberOfLinks,
      .volume = found.dwVolumeSerialNumber,
      .number = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow};
  return true;
}

bool heed_os_look(const char *path, heed_os_info *info) {
  wchar_t wide[MOST_UNITS];
  if (!widen(path, wide)) return false;
  const HANDLE file = open_wide(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0);
  if (file == INVALID_HANDLE_VALUE) return false;
  const bool found = info_of(file, info);
  CloseHandle(file);
  return found;
}

bool heed_os_is_there(const char *path) {
  wchar_t wide[MOST_UNITS];
  if (!widen(path, wide)) return false;
  if (GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES) return true;
  return take_reason(), false;
}

bool heed_os_is_absent(const char *path) {
  return !heed_os_is_there(path) && (errno == ENOENT || errno == ENOTDIR);
}

bool heed_os_is_link(const char *path) {
  wchar_t wide[MOST_UNITS];
  const DWORD found = widen(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
  return found != INVALID_FILE_ATTRIBUTES && found & FILE_ATTRIBUTE_REPARSE_POINT;
}

/* ---------------------------------------------------------------------------------------- read */

static int descriptor_of(HANDLE file, int flags) {
  if (file == INVALID_HANDLE_VALUE) return -1;
  const int descriptor = _open_osfhandle((intptr_t)file, flags | _O_BINARY | _O_NOINHERIT);
  if (descriptor >= 0) return descriptor;
  CloseHandle(file);
  return errno = EMFILE, -1;
}

int heed_os_open(const char *path) {
  wchar_t wide[MOST_UNITS];
  if (!widen(path, wide)) return -1;
  return descriptor_of(open_wide(wide, GENERIC_READ, OPEN_EXISTING, 0), _O_RDONLY);
}

/* Whether an open file lies where its folder and location say. Through a link it lies elsewhere. */
static bool lies_at(HANDLE file, HANDLE folder, const wchar_t *location) {
  wchar_t found[MOST_UNITS], wanted[MOST_UNITS];
  const DWORD most = MOST_UNITS, length = GetFinalPathNameByHandleW(folder, wanted, most, 0),
              whole = GetFinalPathNameByHandleW(file, found, most, 0);
  if (length == 0 || whole == 0) return take_reason(), false;
  if (whole >= most || length + 1 + wcslen(location) >= most) return errno = ENAMETOOLONG, false;
  if (wanted[length - 1] != L'\\') wcscat(wanted, L"\\");
  wcscat(wanted, location);
  if (CompareStringOrdinal(found, -1, wanted, -1, TRUE) == CSTR_EQUAL) return true;
  return errno = ELOOP, false;
}

/* The folder of a file, marked, so that no name beneath it is a device. */
static bool folder_of(const char *path, wchar_t folder[MOST_UNITS]) {
  if (!widen(path, folder)) return false;
  size_t length = wcslen(folder);
  while (length > 0 && folder[length - 1] != L'/' && folder[length - 1] != L'\\') length--;
  wcscpy(folder + length, length ? L"" : L".");
  return mark(folder);
}

int heed_os_open_beneath(const char *path, const char *location) {
  wchar_t whole[MOST_UNITS], names[MOST_UNITS];
  if (!folder_of(path, whole) || !widen(location, names)) return -1;
  for (wchar_t *at = names; *at; at++)
    if (*at == L'/') *at = L'\\';
  const HANDLE folder = open_wide(whole, FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0);
  if (folder == INVALID_HANDLE_VALUE) return -1;
  HANDLE file = INVALID_HANDLE_VALUE;
  errno = ENAMETOOLONG;
  if (wcslen(whole) + 1 + wcslen(names) < MOST_UNITS) {
    if (whole[wcslen(whole) - 1] != L'\\') wcscat(whole, L"\\");
    wcscat(whole, names);
    file = open_wide(whole, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
  }
  const bool lies = file != INVALID_HANDLE_VALUE && lies_at(file, folder, names);
  const int reason = errno;
  CloseHandle(folder);
  if (!lies && file != INVALID_HANDLE_VALUE) CloseHandle(file);
  errno = reason;
  return lies ? descriptor_of(file, _O_RDONLY) : -1;
}

static HANDLE handle_of(int descriptor) { return (HANDLE)_get_osfhandle(descriptor); }

bool heed_os_look_at(int descriptor, heed_os_info *info) {
  return info_of(handle_of(descriptor), info);
}

ptrdiff_t heed_os_read(int descriptor, uint64_t offset, void *to, size_t count) {
  OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
  const DWORD most = count < (1u << 30) ? (DWORD)count : 1u << 30;
  DWORD got = 0;
  if (ReadFile(handle_of(descriptor), to, most, &got, &at)) return (ptrdiff_t)got;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  return take_reason(), -1;
}

void heed_os_close(int descriptor) { _close(descriptor); }

struct heed_os_folder {
  HANDLE search; /* of all names; begins anew for each rewind */
  WIN32_FIND_DATAW found;
  bool fresh; /* found is a name that nobody took */
  char name[HEED_OS_NAME_SIZE];
  wchar_t pattern[MOST_UNITS + 2];
};

static bool begin(heed_os_folder *folder) {
  folder->search = FindFirstFileW(folder->pattern, &folder->found);
  folder->fresh = folder->search != INVALID_HANDLE_VALUE;
  if (!folder->fresh) take_reason();
  return folder->fresh;
}

heed_os_folder *heed_os_folder_open(const char *path) {
  heed_os_info info;
  if (!heed_os_look(path, &info)) return NULL;
  if (info.kind != HEED_OS_FOLDER) return errno = ENOTDIR, NULL;
  heed_os_folder *folder = calloc(1, sizeof *folder);
  if (!folder) return errno = ENOMEM, NULL;
  if (widen(path, folder->pattern)) {
    const size_t length = wcslen(folder->pattern);
    const wchar_t last = folder->pattern[length - 1];
    wcscpy(folder->pattern + length, last == L'/' || last == L'\\' ? L"*" : L"\\*");
    if (begin(folder)) return folder;
  }
  const int reason = errno;
  free(folder);
  return errno = reason, NULL;
}

const char *heed_os_folder_next(heed_os_folder *folder) {
  if (folder->search == INVALID_HANDLE_VALUE) return NULL; /* errno is that of rewind */
  if (!folder->fresh && !FindNextFileW(folder->search, &folder->found)) {
    take_reason();
    if (GetLastError() == ERROR_NO_MORE_FILES) errno = 0;
    return NULL;
  }
  folder->fresh = false;
  if (narrow(folder->found.cFileName, folder->name, sizeof folder->name)) return folder->name;
  return errno = ENAMETOOLONG, NULL;
}

void heed_os_folder_rewind(heed_os_folder *folder) {
  if (folder->search != INVALID_HANDLE_VALUE) FindClose(folder->search);
  begin(folder);
}

void heed_os_folder_close(heed_os_folder *folder) {
  if (folder->search != INVALID_HANDLE_VALUE) FindClose(folder->search);
  free(folder);
}

/* ------------------------------------------------------------------------------------- streams */

FILE *heed_os_stream(const char *path, const char *mode) {
  wchar_t wide[MOST_UNITS], how[8];
  if (!widen(path, wide) || !MultiByteToWideChar(CP_UTF8, 0, mode, -1, how, 8)) return NULL;
  return _wfopen(wide, how);
}

FILE *heed_os_standard_in(void) {
  _setmode(_fileno(stdin), _O_BINARY);
  return stdin;
}

/* D: the file goes when it is closed. The C library's own tmpfile wants to write in C:\. */
FILE *heed_os_temporary(void) {
  wchar_t folder[MOST_UNITS], name[MOST_UNITS];
  const DWORD length = GetTempPathW(MOST_UNITS, folder);
  if (length > 0 && length < MOST_UNITS && GetTempFileNameW(folder, L"hee", 0, name))
    return _wfopen(name, L"w+bD");
  return take_reason(), NULL;
}

bool heed_os_seek(FILE *file, uint64_t offset) {
  return _fseeki64(file, (long long)offset, SEEK_SET) == 0;
}

bool heed_os_tell(FILE *file, uint64_t *offset) {
  const long long at = _ftelli64(file);
  *offset = (uint64_t)at;
  return at >= 0;
}

uint64_t heed_os_stream_size(FILE *file) {
  const long long size = _fseeki64(file, 0, SEEK_END) == 0 ? _ftelli64(file) : 0;
  rewind(file);
  return size > 0 ? (uint64_t)size : 0;
}

FILE *heed_os_create(const char *path, const unsigned *mode) {
  wchar_t wide[MOST_UNITS];
  (void)mode; /* the folder's rights are those of its files */
  if (!widen(path, wide)) return NULL;
  const int descriptor =
      descriptor_of(open_wide(wide, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, 0), _O_RDWR);
  if (descriptor < 0) return NULL;
  FILE *file = _fdopen(descriptor, "w+b");
  if (file) return file;
  const int reason = errno;
  _close(descriptor);
  DeleteFileW(wide);
  return errno = reason, NULL;
}

/* --------------------------------------------------------------------------------------- names */

/* What is there has one name at the end of all links; what is not there yet has its own. */
int heed_file_target(const char *path, char resolved[HEED_PATH_SIZE]) {
  wchar_t wide[MOST_UNITS], real[MOST_UNITS];
  if (strlen(path) >= HEED_PATH_SIZE) return ENAMETOOLONG;
  strcpy(resolved, path);
  heed_os_info info;
  if (!widen(path, wide) || !heed_os_look(path, &info)) return 0; /* shows when it is opened */
  if (info.kind == HEED_OS_PIPE || info.kind == HEED_OS_DEVICE) return 0;
  const HANDLE file = open_wide(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0);
  if (file == INVALID_HANDLE_VALUE) return errno;
  const DWORD length = GetFinalPathNameByHandleW(file, real, MOST_UNITS, 0);
  const int reason = length == 0 ? reason_of(GetLastError()) : ENAMETOOLONG;
  CloseHandle(file);
  if (length == 0 || length >= MOST_UNITS) return reason;
  const bool drive = wcsncmp(real, L"\\\\?\\", 4) == 0 && real[5] == L':';
  return narrow(drive ? real + 4 : real, resolved, HEED_PATH_SIZE) ? 0 : ENAMETOOLONG;
}

bool heed_os_replace(const char *from, const char *to) {
  wchar_t source[MOST_UNITS], target[MOST_UNITS];
  if (!widen(from, source) || !widen(to, target)) return false;
  if (MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING)) return true;
  return take_reason(), false;
}

void heed_os_remove(const char *path) {
  wchar_t wide[MOST_UNITS];
  if (widen(path, wide)) DeleteFileW(wide);
}

bool heed_os_make_folder(const char *path, unsigned mode) {
  wchar_t wide[MOST_UNITS];
  (void)mode; /* the rights are those of the folder around it */
  if (!widen(path, wide)) return false;
  if (CreateDirectoryW(wide, NULL)) return true;
  return take_reason(), false;
}

void heed_os_remove_folder(const char *path) {
  wchar_t wide[MOST_UNITS];
  if (widen(path, wide)) RemoveDirectoryW(wide);
}

long heed_os_process(void) { return (long)GetCurrentProcessId(); }
