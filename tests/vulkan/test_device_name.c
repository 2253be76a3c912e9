/* What --device takes beside an index: UUIDs and PCI addresses of played devices, and of those that
 * this machine's drivers list. */
#include "session/device_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_test.h"

static const heed_vulkan_device_info played[] = {
    {.device_uuid = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, [15] = 0x1f},
     .pci_address = "0000:0c:00.0"},
    {.device_uuid = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, [15] = 0x2f},
     .pci_address = "0001:0c:00.1"},
    {.device_uuid = {0x77}}};
#define PLAYED (sizeof played / sizeof *played)

/* The only one of the played devices that has this name, or -1. */
static int find(const char *name) {
  int found = -1;
  for (int i = 0; i < (int)PLAYED; i++) {
    if (!cli_is_named(name, &played[i])) continue;
    assert_int_equal(found, -1);
    found = i;
  }
  return found;
}

static void test_uuid(void **state) {
  (void)state;
  assert_int_equal(find("01234567-89ab-cdef-0000-00000000001f"), 0);
  assert_int_equal(find("0123456789abcdef000000000000002f"), 1);
  assert_int_equal(find("01234567-89AB-CDEF-0000-00000000002F"), 1);
  assert_int_equal(find("77000000-0000-0000-0000-000000000000"), 2);
  assert_int_equal(find("01234567-89ab-cdef-0000-00000000003f"), -1);
  assert_int_equal(find("01234567-89ab-cdef-0000-00000000001"), -1);
  assert_int_equal(find("01234567-89ab-cdef-0000-00000000001f0"), -1);
  assert_int_equal(find("0123-4567-89ab-cdef-0000-00000000001f"), -1);
}

static void test_pci_address(void **state) {
  (void)state;
  assert_int_equal(find("0000:0c:00.0"), 0);
  assert_int_equal(find("0c:00.0"), 0);
  assert_int_equal(find("0C:00.0"), 0);
  assert_int_equal(find("0001:0c:00.1"), 1);
  assert_int_equal(find("0c:00.1"), -1); /* of another domain than 0 */
  assert_int_equal(find("0c:00"), -1);
  assert_int_equal(find("0c:00.00"), -1);
  assert_int_equal(find(":0c:00.0"), -1);
  assert_int_equal(find(""), -1); /* the third device says no address */
}

/* Each name that the driver gives is the name of that device. */
static void test_listed(void **state) {
  heed_error error;
  heed_context *context;
  heed_vulkan_device_info infos[8];
  uint32_t count = 8, addresses = 0;
  (void)state;
  vulkan_test_need_device();
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_device_list(context, infos, &count, &error));
  for (uint32_t i = 0; i < count && i < 8; i++) {
    const heed_vulkan_device_info *info = &infos[i];
    char uuid[CLI_UUID_SIZE];
    cli_print_uuid(info->device_uuid, uuid);
    assert_true(cli_is_named(uuid, info));
    if (!info->pci_address[0]) continue;
    addresses++;
    printf("%s: PCI %s\n", info->name, info->pci_address);
    assert_int_equal(strlen(info->pci_address), 12);
    assert_true(cli_is_named(info->pci_address, info));
    if (strncmp(info->pci_address, "0000:", 5) == 0)
      assert_true(cli_is_named(info->pci_address + 5, info));
  }
  heed_context_destroy(context);
  if (getenv("HEED_TEST_PCI")) assert_true(addresses > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_uuid),
                                     cmocka_unit_test(test_pci_address),
                                     cmocka_unit_test(test_listed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
