/* What a file could make of a reader: code of its own where libpng reads a head. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((visibility("default"))) void png_read_info(void *reader, void *info);

void png_read_info(void *reader, void *info) {
  const char *path = getenv("HEED_TEST_STOLEN");
  (void)reader;
  (void)info;
  if (path && open(path, O_CREAT | O_WRONLY, 0600) >= 0) _exit(90);
  if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) _exit(91);
  execl("/bin/sh", "sh", "-c", "exit 92", (char *)NULL);
  _exit(93);
}
