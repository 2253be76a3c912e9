/* Which backend runs, and why: one line on stderr. */
#define _POSIX_C_SOURCE 200809L
#include "cli/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static bool wants_half(const cli_choice *choice) { return strcmp(choice->precision, "f16") == 0; }

static void say(const cli_choice *choice, const char *why) {
  const bool falls = wants_half(choice) && strcmp(heed_backend_name(choice->opened), "cpu") == 0;
  if (!choice->quiet)
    fprintf(stderr, "heed: %s (%s): %s%s\n", heed_backend_name(choice->opened), CLI_SHOWN(heed_backend_device(choice->opened)),
            CLI_SHOWN(why), falls ? "; in f32, since the CPU has no f16" : "");
}

static heed_status open_cpu(cli_state *cli, cli_choice *choice, const char *why) {
  const heed_cpu_desc desc = {sizeof desc, choice->threads, choice->simd};
  const heed_status status = heed_cpu_backend_create(cli->context, &desc, &choice->opened, &cli->error);
  if (status == HEED_UNSUPPORTED) cli->error.status = HEED_INVALID_ARGUMENT; /* --simd names a level that is not here */
  if (status != HEED_OK) return cli->error.status;
  say(choice, why);
  return HEED_OK;
}

#if HEED_HAS_VULKAN
heed_vulkan_desc cli_vulkan_desc(uint32_t device, const char *precision, char cache[CLI_CACHE_PATH_SIZE]) {
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  if (device != CLI_NO_DEVICE) desc.device = (int32_t)device;
  desc.precision = strcmp(precision, "f16") == 0    ? HEED_VULKAN_PRECISION_F16
                   : strcmp(precision, "auto") == 0 ? HEED_VULKAN_PRECISION_AUTO
                                                    : HEED_VULKAN_PRECISION_F32;
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = -1;
  if (xdg && *xdg) length = snprintf(cache, CLI_CACHE_PATH_SIZE, "%s/heed", xdg);
  else if (home && *home) length = snprintf(cache, CLI_CACHE_PATH_SIZE, "%s/.cache/heed", home);
  if (length > 0 && length < CLI_CACHE_PATH_SIZE) desc.cache_directory = cache;
  /* Faults and checks for tests of the command line itself. */
  const char *lose = getenv("HEED_VULKAN_LOSE_AT_SUBMIT"), *limit = getenv("HEED_VULKAN_MEMORY_LIMIT");
  uint32_t number;
  if (lose && cli_read_number(lose, UINT32_MAX, &number)) desc.lose_at_submit = number;
  if (limit && cli_read_number(limit, UINT32_MAX, &number)) desc.memory_limit = number;
  const char *validate = getenv("HEED_VULKAN_VALIDATE");
  if (validate) desc.validate = strcmp(validate, "sync") == 0 ? HEED_VULKAN_VALIDATE_SYNC : HEED_VULKAN_VALIDATE_GPU;
  const char *fill = getenv("HEED_VULKAN_FILL");
  if (fill && cli_read_number(fill, UINT32_MAX, &number)) desc.fill = number;
  const char *tier = getenv("HEED_VULKAN_TIER");
  for (int i = 0; tier && heed_vulkan_tier_name((heed_vulkan_tier)i); i++)
    if (strcmp(tier, heed_vulkan_tier_name((heed_vulkan_tier)i)) == 0) desc.tier = (heed_vulkan_tier)i;
  const char *flops = getenv("HEED_VULKAN_SUBMIT_FLOPS");
  if (flops && cli_read_number(flops, UINT32_MAX, &number)) desc.submit_flops = number;
  desc.gpu_kernels = getenv("HEED_VULKAN_GPU_KERNELS") != NULL;
  desc.null_dispatch = getenv("HEED_VULKAN_NULL_DISPATCH") != NULL;
  desc.force_staging = getenv("HEED_VULKAN_FORCE_STAGING") != NULL;
  return desc;
}

static heed_status open_vulkan(cli_state *cli, cli_choice *choice, const char *why) {
  char cache[CLI_CACHE_PATH_SIZE];
  heed_vulkan_desc desc = cli_vulkan_desc(choice->device, choice->precision, cache);
  if (choice->reopened && getenv("HEED_VULKAN_LOSE_ONCE")) desc.lose_at_submit = 0;
  HEED_TRY(heed_vulkan_backend_create(cli->context, &desc, &choice->opened, &cli->error));
  say(choice, why);
  return HEED_OK;
}

/* Whether auto may take this device; when not, why. */
static bool device_passes(cli_state *cli, const char *precision, uint32_t index, const heed_vulkan_device_info *info, bool named, char *why, size_t size) {
  if (info->unusable[0]) {
    snprintf(why, size, "device %u cannot be used: %s", index, info->unusable);
    return false;
  }
  if (info->type == HEED_VULKAN_CPU && !named) {
    snprintf(why, size, "device %u (%s) is a software one, slower than the CPU itself; --backend vulkan takes it", index, info->name);
    return false;
  }
  char cache[CLI_CACHE_PATH_SIZE];
  const heed_vulkan_desc desc = cli_vulkan_desc(index, precision, cache);
  heed_vulkan_check check;
  heed_error error;
  if (heed_vulkan_self_check(cli->context, &desc, &check, &error) != HEED_OK) snprintf(why, size, "device %u failed its self-check: %s", index, error.message);
  else if (!check.passed) snprintf(why, size, "device %u failed its self-check: %s is off by %.3g", index, check.worst, check.max_error);
  else {
    snprintf(why, size, "device %u passed its self-check of %u kernels", index, check.kernels);
    return true;
  }
  return false;
}

#define MAX_DEVICES 16

/* The first device that passes, else the CPU. */
static heed_status open_auto(cli_state *cli, cli_choice *choice) {
  heed_vulkan_device_info infos[MAX_DEVICES];
  uint32_t count = MAX_DEVICES;
  heed_error error;
  char why[HEED_ERROR_MESSAGE_SIZE + 128] = "no Vulkan device";
  if (heed_vulkan_device_list(cli->context, infos, &count, &error) != HEED_OK) return open_cpu(cli, choice, error.message);
  const bool named = choice->device != CLI_NO_DEVICE;
  if (named && choice->device >= count)
    return heed_fail(&cli->error, HEED_NO_DEVICE, "--device: no such device (found %u, expected less than %u)", choice->device, count);
  for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++) {
    if ((named && i != choice->device) || !device_passes(cli, choice->precision, i, &infos[i], named, why, sizeof why)) continue;
    choice->device = i;
    if (open_vulkan(cli, choice, why) == HEED_OK) {
      choice->may_fall_back = true;
      return HEED_OK;
    }
    snprintf(why, sizeof why, "device %u could not be opened: %s", i, cli->error.message);
  }
  return open_cpu(cli, choice, why);
}
#else
static heed_status open_vulkan(cli_state *cli, cli_choice *choice, const char *why) {
  (void)choice;
  (void)why;
  return heed_fail(&cli->error, HEED_NO_DEVICE, "--backend vulkan: this build has no Vulkan (configure with -DHEED_VULKAN=ON)");
}

static heed_status open_auto(cli_state *cli, cli_choice *choice) { return open_cpu(cli, choice, "this build has no Vulkan"); }
#endif

heed_status cli_choice_open(cli_state *cli, cli_choice *choice) {
  choice->opened = NULL;
  choice->may_fall_back = false;
  if (!wants_half(choice) && strcmp(choice->precision, "f32") != 0 && strcmp(choice->precision, "auto") != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT, "--precision: no such precision (found \"%s\", expected f32, f16 or auto)", choice->precision);
  if (strcmp(choice->backend, "cpu") == 0) return open_cpu(cli, choice, "as asked");
  if (strcmp(choice->backend, "vulkan") == 0) return open_vulkan(cli, choice, "as asked");
  if (strcmp(choice->backend, "auto") == 0) return open_auto(cli, choice);
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT, "--backend: no such backend (found \"%s\", expected auto, vulkan or cpu)", choice->backend);
}

bool cli_choice_fall_back(cli_state *cli, cli_choice *choice, heed_status status) {
  const bool device_fault = status == HEED_NO_DEVICE || status == HEED_OUT_OF_DEVICE_MEMORY || status == HEED_DEVICE_LOST || status == HEED_DEVICE_FAILED ||
                            status == HEED_UNSUPPORTED;
  const bool again = status == HEED_DEVICE_LOST && !choice->reopened;
  if (!device_fault || !(again || choice->may_fall_back)) return false;
  char why[HEED_ERROR_MESSAGE_SIZE + 64];
  snprintf(why, sizeof why, "the device failed: %s", cli->error.message);
  heed_backend_destroy(choice->opened);
  choice->opened = NULL;
  if (again) {
    choice->reopened = true;
    if (open_vulkan(cli, choice, why) == HEED_OK) return true;
    if (!choice->may_fall_back) return false;
  }
  choice->may_fall_back = false;
  return open_cpu(cli, choice, why) == HEED_OK;
}

void cli_choice_close(cli_choice *choice) {
  heed_backend_destroy(choice->opened);
  choice->opened = NULL;
}
