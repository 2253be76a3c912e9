/* What --device may say of a device, beside its index. */
#ifndef HEED_CLI_SESSION_DEVICE_NAME_H
#define HEED_CLI_SESSION_DEVICE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "heed/vulkan.h"

/* A UUID as --device takes it: 32 digits, dashes between them. */
#define CLI_UUID_SIZE 37
void cli_print_uuid(const uint8_t uuid[16], char to[CLI_UUID_SIZE]);
/* Whether the name is this device's UUID or PCI address, in letters of either case; the dashes and
 * the domain 0000 may be left out. */
bool cli_is_named(const char *name, const heed_vulkan_device_info *info);

#endif
