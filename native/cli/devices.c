/* heed devices: what this machine can run on. */
#include <string.h>

#include "backend_selection.h"

static void print_cpu_levels(void) {
  printf("cpu levels:");
  for (uint32_t i = 0; heed_cpu_level(i); i++) printf(" %s", heed_cpu_level(i));
  printf("\n");
}

#if HEED_HAS_VULKAN
static const char *type_name(heed_vulkan_device_type type) {
  static const char *const names[] = {"other", "integrated", "discrete", "virtual", "cpu"};
  return (unsigned)type < 5 ? names[type] : "other";
}

/* The self-check's column; false when it did not pass. */
static bool print_self_check(cli_state *cli, uint32_t index) {
  cli_vulkan vulkan;
  heed_vulkan_check check;
  if (heed_vulkan_self_check(cli->context, cli_vulkan_fill(&vulkan, index, "f32"), &check,
                             &cli->error) != HEED_OK) {
    printf("   self-check: cannot run: %s\n", cli->error.message);
    return false;
  }
  printf("   self-check: %s, %u kernels%s, largest error %.3g in %s\n",
         check.passed ? "passed" : "FAILED", check.kernels, check.remembered ? " (cached)" : "",
         check.max_error, check.worst);
  return check.passed;
}

static bool print_device(cli_state *cli, uint32_t index, const heed_vulkan_device_info *info,
                         bool self_check) {
  printf("%u  %s (%s, %s), Vulkan %u.%u.%u\n", index, CLI_SHOWN(info->name),
         CLI_SHOWN(info->driver), type_name(info->type), info->api_major, info->api_minor,
         info->api_patch);
  printf("   tier %s, subgroup %u, %u invocations, %u bytes shared, %u storage buffers, range %llu "
         "MiB, memory %llu MiB\n",
         heed_vulkan_tier_name(info->tier), info->subgroup_size, info->max_invocations,
         info->max_shared_bytes, info->max_storage_buffers,
         (unsigned long long)(info->max_storage_range >> 20),
         (unsigned long long)(info->device_memory >> 20));
  if (info->unusable[0]) printf("   cannot be used: %s\n", CLI_SHOWN(info->unusable));
  return info->unusable[0] || !self_check || print_self_check(cli, index);
}

#define MAX_DEVICES 16

static int print_devices(cli_state *cli, bool self_check) {
  heed_vulkan_device_info infos[MAX_DEVICES];
  uint32_t count = MAX_DEVICES;
  const heed_status status = heed_vulkan_device_list(cli->context, infos, &count, &cli->error);
  if (status == HEED_NO_DEVICE) {
    printf("vulkan: none (%s)\n", cli->error.message);
    return CLI_OK;
  }
  if (status != HEED_OK) return cli_fail(cli);
  bool passed = true;
  for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++)
    passed = print_device(cli, i, &infos[i], self_check) && passed;
  return passed ? CLI_OK : CLI_MISMATCH;
}
#else
static int print_devices(cli_state *cli, bool self_check) {
  (void)cli;
  (void)self_check;
  printf("vulkan: none (built without Vulkan)\n");
  return CLI_OK;
}
#endif

static int run(cli_state *cli, int argc, char **argv) {
  bool self_check = false;
  cli_words words;
  const cli_option options[] = {{"--self-check", CLI_FLAG, &self_check, NULL,
                                 "run every op on every device and compare with the CPU"},
                                {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(cli, "devices [options]", options, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count) {
    fprintf(stderr, "heed devices: unexpected argument (found \"%s\")\n", CLI_SHOWN(words.word[0]));
    return CLI_USAGE;
  }
  print_cpu_levels();
  return print_devices(cli, self_check);
}

const cli_verb cli_verb_devices = {
    "devices", "list CPU levels and Vulkan devices; verify them with --self-check", run};
