#include "base/list.h"

#include <stddef.h>
#include <string.h>

bool heed_list_has(const char *list, const char *item) {
  const size_t length = strlen(item);
  while (list && length) {
    if (strncmp(list, item, length) == 0 && (list[length] == '|' || !list[length])) return true;
    list = strchr(list, '|');
    if (list) list++;
  }
  return false;
}
