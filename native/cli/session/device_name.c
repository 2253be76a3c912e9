/* Names of devices on the command line. */
#include "device_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void cli_print_uuid(const uint8_t uuid[16], char to[CLI_UUID_SIZE]) {
  for (int i = 0, at = 0; i < 16; i++)
    at += snprintf(to + at, (size_t)(CLI_UUID_SIZE - at), "%s%02x",
                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* expected: in small letters; dashes of it may be missing. */
static bool is_text(const char *name, const char *expected) {
  for (; *expected; expected++) {
    if (*expected == '-' && *name != '-') continue;
    if (tolower((unsigned char)*name) != *expected) return false;
    name++;
  }
  return *name == '\0';
}

bool cli_is_named(const char *name, const heed_vulkan_device_info *info) {
  char uuid[CLI_UUID_SIZE];
  const char *address = info->pci_address;
  cli_print_uuid(info->device_uuid, uuid);
  if (is_text(name, uuid)) return true;
  if (!address[0]) return false;
  return is_text(name, address) ||
         (strncmp(address, "0000:", 5) == 0 && is_text(name, address + 5));
}
