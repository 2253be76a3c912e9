/* Kinds of storage. See storage.h. */
#if defined(__linux__)
#define _GNU_SOURCE
#include <string.h>
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <string.h>
#include <sys/mount.h>
#include <sys/param.h>
#endif
#include "heed/native.h"
#include "storage.h"

#if defined(__linux__) || defined(__APPLE__)
/* The folder of a file that may not be there yet. */
static bool folder_of(const char *path, char folder[HEED_PATH_SIZE]) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
  if (length >= HEED_PATH_SIZE) return false;
  memcpy(folder, path, length);
  folder[length] = '\0';
  if (!length) strcpy(folder, ".");
  return true;
}
#endif

bool survey_is_shared_storage(const char *path) {
#if defined(__linux__)
  /* of the kernel's magic.h, and of file systems that are not in it */
  static const unsigned long kinds[] = {
      0x6969,     /* NFS */
      0x517B,     /* SMB */
      0xFF534D42, /* CIFS */
      0xFE534D42, /* SMB 2 */
      0x01021997, /* 9P */
      0x65735546, /* FUSE */
      0x5346414F, /* AFS */
      0x73757245, /* Coda */
      0x00C36400, /* Ceph */
      0x0BD00BD0, /* Lustre */
      0x47504653, /* GPFS */
      0x19830326, /* BeeGFS */
      0x20030528, /* OrangeFS */
      0x01161970, /* GFS 2 */
      0x7461636F, /* OCFS 2 */
  };
  char folder[HEED_PATH_SIZE];
  struct statfs info;
  if (!folder_of(path, folder) || statfs(folder, &info) != 0) return false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (((unsigned long)info.f_type & 0xFFFFFFFFul) == kinds[i]) return true;
  return false;
#elif defined(__APPLE__)
  char folder[HEED_PATH_SIZE];
  struct statfs info;
  return folder_of(path, folder) && statfs(folder, &info) == 0 && !(info.f_flags & MNT_LOCAL);
#else
  (void)path;
  return false;
#endif
}
