/* heed devices: what this machine can run on. */
#include <string.h>

#include "session/backend_selection.h"
#include "terminal/json_out.h"

static void print_cpu_levels(json_out *json) {
  if (json) json_open(json, "cpu_levels", '[');
  for (uint32_t i = 0; json && heed_cpu_level(i); i++) json_text(json, NULL, heed_cpu_level(i));
  if (json) json_close(json, ']');
  if (json) return;
  printf("cpu levels:");
  for (uint32_t i = 0; heed_cpu_level(i); i++) printf(" %s", heed_cpu_level(i));
  printf("\n");
}

#if HEED_HAS_VULKAN
static const char *type_name(heed_vulkan_device_type type) {
  static const char *const names[] = {"other", "integrated", "discrete", "virtual", "cpu"};
  return (unsigned)type < 5 ? names[type] : "other";
}

/* The self-check of a device in the precision that models run in. The exit code: a check that
 * cannot run says nothing of the device's numbers. */
static int run_self_check(cli_state *cli, uint32_t index, json_out *json) {
  cli_vulkan vulkan;
  heed_vulkan_check check;
  cli_vulkan_fill(&vulkan, index, "auto");
  vulkan.desc.check_again = true;
  const heed_status status =
      heed_vulkan_self_check(cli->context, &vulkan.desc, &check, &cli->error);
  if (json) {
    json_open(json, "self_check", '{');
    json_flag(json, "passed", status == HEED_OK && check.passed);
    json_flag(json, "remembered", status == HEED_OK && check.remembered);
    json_integer(json, "kernels", status == HEED_OK ? (int64_t)check.kernels : 0);
    if (status == HEED_OK) json_number(json, "largest_error", check.max_error);
    json_text(json, status == HEED_OK ? "worst" : "why",
              status == HEED_OK ? check.worst : cli->error.message);
    json_close(json, '}');
  } else if (status != HEED_OK) {
    printf("   self-check: cannot run: %s\n", cli->error.message);
  } else {
    printf("   self-check: %s, %u kernels%s, largest error %.3g in %s\n",
           check.passed ? "passed" : "FAILED", check.kernels, check.remembered ? " (cached)" : "",
           check.max_error, check.worst);
  }
  if (status != HEED_OK) return cli_fail(cli);
  return check.passed ? CLI_OK : CLI_MISMATCH;
}

static void print_device(uint32_t index, const heed_vulkan_device_info *info, const char *uuid) {
  printf("%u  %s (%s, %s), Vulkan %u.%u.%u\n", index, CLI_SHOWN(info->name),
         CLI_SHOWN(info->driver), type_name(info->type), info->api_major, info->api_minor,
         info->api_patch);
  printf("   UUID %s%s%s\n", uuid, info->pci_address[0] ? ", PCI " : "", info->pci_address);
  printf("   tier %s, subgroup %u, %u invocations, %u bytes shared, %u storage buffers, range %llu "
         "MiB, memory %llu MiB\n",
         heed_vulkan_tier_name(info->tier), info->subgroup_size, info->max_invocations,
         info->max_shared_bytes, info->max_storage_buffers,
         (unsigned long long)(info->max_storage_range >> 20),
         (unsigned long long)(info->device_memory >> 20));
  if (info->unusable[0]) printf("   cannot be used: %s\n", CLI_SHOWN(info->unusable));
}

static void write_device(json_out *json, uint32_t index, const heed_vulkan_device_info *info,
                         const char *uuid) {
  char version[48];
  snprintf(version, sizeof version, "%u.%u.%u", info->api_major, info->api_minor, info->api_patch);
  json_integer(json, "index", index);
  json_text(json, "name", info->name);
  json_text(json, "driver", info->driver);
  json_text(json, "type", type_name(info->type));
  json_text(json, "vulkan", version);
  json_text(json, "uuid", uuid);
  json_text(json, "pci_address", info->pci_address);
  json_text(json, "tier", heed_vulkan_tier_name(info->tier));
  json_integer(json, "subgroup_size", info->subgroup_size);
  json_integer(json, "max_invocations", info->max_invocations);
  json_integer(json, "max_shared_bytes", info->max_shared_bytes);
  json_integer(json, "max_storage_buffers", info->max_storage_buffers);
  json_integer(json, "max_storage_range", (int64_t)info->max_storage_range);
  json_integer(json, "device_memory", (int64_t)info->device_memory);
  json_text(json, "unusable", info->unusable);
}

static int show_device(cli_state *cli, uint32_t index, const heed_vulkan_device_info *info,
                       bool self_check, json_out *json) {
  char uuid[CLI_UUID_SIZE];
  cli_print_uuid(info->device_uuid, uuid);
  if (json) {
    json_open(json, NULL, '{');
    write_device(json, index, info, uuid);
  } else {
    print_device(index, info, uuid);
  }
  const int code = info->unusable[0] || !self_check ? CLI_OK : run_self_check(cli, index, json);
  if (json) json_close(json, '}');
  return code;
}

#define MAX_DEVICES 16

static int show_devices(cli_state *cli, bool self_check, json_out *json) {
  heed_vulkan_device_info infos[MAX_DEVICES];
  uint32_t count = MAX_DEVICES;
  const heed_status status = heed_vulkan_device_list(cli->context, infos, &count, &cli->error);
  if (status != HEED_OK && status != HEED_NO_DEVICE) return cli_fail(cli);
  if (status != HEED_OK) count = 0;
  if (json) json_open(json, "devices", '[');
  if (!json && status != HEED_OK) printf("vulkan: none (%s)\n", cli->error.message);
  int worst = CLI_OK;
  for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++) {
    const int code = show_device(cli, i, &infos[i], self_check, json);
    if (code > worst) worst = code;
  }
  if (json) json_close(json, ']');
  if (count > MAX_DEVICES)
    fprintf(stderr, "heed devices: %u more devices are not listed\n", count - MAX_DEVICES);
  return worst;
}
#else
static int show_devices(cli_state *cli, bool self_check, json_out *json) {
  (void)cli;
  (void)self_check;
  if (json) json_open(json, "devices", '[');
  if (json) json_close(json, ']');
  if (!json) printf("vulkan: none (built without Vulkan)\n");
  return CLI_OK;
}
#endif

static int run(cli_state *cli, int argc, char **argv) {
  bool self_check = false, as_json = false;
  cli_words words;
  const cli_option options[] = {{"--self-check", CLI_FLAG, &self_check, NULL,
                                 "run every op on every device and compare with the CPU"},
                                {"--json", CLI_FLAG, &as_json, NULL, "print one JSON object"},
                                {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(cli, "devices [options]", options, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count) {
    fprintf(stderr, "heed devices: unexpected argument (found \"%s\")\n", CLI_SHOWN(words.word[0]));
    return CLI_USAGE;
  }
  json_out json = {.file = stdout}, *to = as_json ? &json : NULL;
  if (to) json_begin(to);
  print_cpu_levels(to);
  const int shown = show_devices(cli, self_check, to);
  if (to) json_close(to, '}');
  if (to) printf("\n");
  return shown;
}

const cli_verb cli_verb_devices = {
    "devices", "list CPU levels and Vulkan devices; verify them with --self-check", run};
