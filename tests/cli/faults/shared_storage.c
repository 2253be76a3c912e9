/* Preloaded into heed: all folders lie on NFS, as statfs tells it. */
#include <sys/vfs.h>

int statfs(const char *path, struct statfs *info);

int statfs(const char *path, struct statfs *info) {
  (void)path;
  *info = (struct statfs){.f_type = 0x6969};
  return 0;
}
