/* Which backend runs, and why: one line on stderr. */
#define _POSIX_C_SOURCE 200809L
#include "backend_selection.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/system.h"

static bool wants_half(const cli_choice *choice) { return strcmp(choice->precision, "f16") == 0; }

static bool wants_bf16(const cli_choice *choice) { return strcmp(choice->precision, "bf16") == 0; }

/* What the precision came to, where the device does not say it. */
static const char *say_precision(const cli_choice *choice) {
  if (wants_bf16(choice)) return "; linear and patch embedding in bf16";
  if (strcmp(choice->precision, "f32") == 0 ||
      strstr(heed_backend_device(choice->opened), "weights in fp16"))
    return "";
  return wants_half(choice) ? "; in f32: the CPU has no f16" : "; in f32";
}

static void say(const cli_choice *choice, const char *why) {
  if (!choice->quiet)
    fprintf(stderr, "heed: %s (%s): %s%s\n", heed_backend_name(choice->opened),
            CLI_SHOWN(heed_backend_device(choice->opened)), CLI_SHOWN(why), say_precision(choice));
}

/* The level that multiplies in bf16 is one of AVX-512. */
#define BF16_LEVEL "avx512bf16"

static heed_cpu_desc cpu_desc(const cli_choice *choice) {
  return (heed_cpu_desc){sizeof(heed_cpu_desc), choice->threads,
                         wants_bf16(choice) ? BF16_LEVEL : choice->simd};
}

/* --simd names a level that is not here: bad usage. */
static heed_status cpu_status(cli_state *cli, heed_status status) {
  if (status != HEED_UNSUPPORTED) return status;
  return cli->error.status = HEED_INVALID_ARGUMENT;
}

static heed_status open_cpu(cli_state *cli, cli_choice *choice, const char *why) {
  const heed_cpu_desc desc = cpu_desc(choice);
  if (wants_bf16(choice)) {
    const heed_status status =
        heed_cpu_backend_create(cli->context, &desc, &choice->opened, &cli->error);
    if (status == HEED_UNSUPPORTED)
      return heed_fail(
          &cli->error, HEED_UNSUPPORTED,
          "--precision: bf16 not supported (found a CPU of level %s, expected one with "
          "AVX512_BF16)",
          heed_cpu_level(0));
    CLI_TRY(status);
    say(choice, why);
    return HEED_OK;
  }
  CLI_TRY(
      cpu_status(cli, heed_cpu_backend_create(cli->context, &desc, &choice->opened, &cli->error)));
  say(choice, why);
  return HEED_OK;
}

#if HEED_HAS_VULKAN
static void find_cache(cli_vulkan *vulkan) {
  if (cli_system_cache_folder(vulkan->cache, sizeof vulkan->cache))
    vulkan->desc.cache_directory = vulkan->cache;
}

/* The number in an environment variable, or 0. */
static uint32_t number_of(const char *variable) {
  const char *text = getenv(variable);
  uint32_t number;
  return text && cli_read_number(text, UINT32_MAX, &number) ? number : 0;
}

/* Settings, faults and checks for tests of the command line itself. */
static void read_environment(cli_vulkan *vulkan) {
  heed_vulkan_desc *desc = &vulkan->desc;
  const char *validate = getenv("HEED_VULKAN_VALIDATE"), *tier = getenv("HEED_VULKAN_TIER");
  if (validate)
    desc->validate =
        strcmp(validate, "sync") == 0 ? HEED_VULKAN_VALIDATE_SYNC : HEED_VULKAN_VALIDATE_GPU;
  for (int i = 0; tier && heed_vulkan_tier_name((heed_vulkan_tier)i); i++)
    if (strcmp(tier, heed_vulkan_tier_name((heed_vulkan_tier)i)) == 0)
      desc->tier = (heed_vulkan_tier)i;
  desc->fill = number_of("HEED_VULKAN_FILL");
  vulkan->test = (heed_vulkan_test){
      .lose_at_submit = number_of("HEED_VULKAN_LOSE_AT_SUBMIT"),
      .memory_limit = number_of("HEED_VULKAN_MEMORY_LIMIT"),
      .submit_flops = number_of("HEED_VULKAN_SUBMIT_FLOPS"),
      .gpu_kernels = getenv("HEED_VULKAN_GPU_KERNELS") != NULL,
      .null_dispatch = getenv("HEED_VULKAN_NULL_DISPATCH") != NULL,
      .force_staging = getenv("HEED_VULKAN_FORCE_STAGING") != NULL,
      .keeps_strips = getenv("HEED_VULKAN_KEEPS_STRIPS") != NULL,
      .choice = number_of("HEED_VULKAN_CHOICE"),
  };
  desc->test = &vulkan->test;
}

const heed_vulkan_desc *cli_vulkan_fill(cli_vulkan *vulkan, uint32_t device,
                                        const char *precision) {
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  if (device != CLI_NO_DEVICE) desc.device = (int32_t)device;
  desc.precision = strcmp(precision, "f16") == 0    ? HEED_VULKAN_PRECISION_F16
                   : strcmp(precision, "auto") == 0 ? HEED_VULKAN_PRECISION_AUTO
                                                    : HEED_VULKAN_PRECISION_F32;
  vulkan->desc = desc;
  find_cache(vulkan);
  read_environment(vulkan);
  return &vulkan->desc;
}

static heed_status open_vulkan(cli_state *cli, cli_choice *choice, const char *why) {
  cli_vulkan vulkan;
  const heed_vulkan_desc *desc = cli_vulkan_fill(&vulkan, choice->device, choice->precision);
  if (choice->reopened && getenv("HEED_VULKAN_LOSE_ONCE")) vulkan.test.lose_at_submit = 0;
  CLI_TRY(heed_vulkan_backend_create(cli->context, desc, &choice->opened, &cli->error));
  say(choice, why);
  return HEED_OK;
}

#define MOST_DEVICES 16

/* The device that --device names. The library, which knows no options, says `device`. */
static heed_status find_named(cli_state *cli, cli_choice *choice) {
  heed_vulkan_device_info infos[MOST_DEVICES];
  uint32_t count = MOST_DEVICES;
  heed_error error;
  const bool is_index = cli_read_number(choice->named, INT32_MAX, &choice->device);
  if (heed_vulkan_device_list(cli->context, infos, &count, &error) != HEED_OK) {
    if (is_index) return HEED_OK; /* opening says why */
    cli->error = error;
    return error.status;
  }
  if (is_index && choice->device >= count)
    return heed_fail(&cli->error, HEED_NO_DEVICE,
                     "--device: device out of range (found %u, expected less than %u)",
                     choice->device, count);
  if (is_index) return HEED_OK;
  for (uint32_t i = 0; i < count && i < MOST_DEVICES; i++)
    if (cli_is_named(choice->named, &infos[i])) {
      choice->device = i;
      return HEED_OK;
    }
  return heed_fail(&cli->error, HEED_NO_DEVICE,
                   "--device: unknown device (found \"%s\", expected an index, a UUID or a PCI "
                   "address of 'heed devices')",
                   choice->named);
}
#else
static heed_status open_vulkan(cli_state *cli, cli_choice *choice, const char *why) {
  (void)choice;
  (void)why;
  return heed_fail(&cli->error, HEED_NO_DEVICE,
                   "--backend vulkan: built without Vulkan; rebuild with -DHEED_VULKAN=ON");
}

static heed_status find_named(cli_state *cli, cli_choice *choice) {
  (void)cli;
  (void)choice;
  return HEED_OK;
}
#endif

static heed_status open_auto(cli_state *cli, cli_choice *choice) {
  const heed_cpu_desc cpu = cpu_desc(choice);
  heed_auto_desc desc = {sizeof desc, &cpu, NULL};
  heed_auto_choice made;
#if HEED_HAS_VULKAN
  cli_vulkan vulkan;
  desc.vulkan = cli_vulkan_fill(&vulkan, choice->device, choice->precision);
#endif
  CLI_TRY(cpu_status(
      cli, heed_auto_backend_create(cli->context, &desc, &choice->opened, &made, &cli->error)));
  choice->may_fall_back = made.device >= 0;
  if (choice->may_fall_back) choice->device = (uint32_t)made.device;
  char why[HEED_AUTO_WHY_SIZE + 32];
  snprintf(why, sizeof why, "%s%s", made.why, made.software ? "; --backend vulkan selects it" : "");
  say(choice, why);
  return HEED_OK;
}

/* bf16 is a precision of CPUs, and of one level. */
static heed_status check_precision(cli_state *cli, const cli_choice *choice) {
  if (!wants_half(choice) && !wants_bf16(choice) && strcmp(choice->precision, "f32") != 0 &&
      strcmp(choice->precision, "auto") != 0)
    return heed_fail(
        &cli->error, HEED_INVALID_ARGUMENT,
        "--precision: unknown precision (found \"%s\", expected f32, f16, bf16 or auto)",
        choice->precision);
  if (wants_bf16(choice) && strcmp(choice->backend, "vulkan") == 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--precision: bf16 not supported (found --backend vulkan, expected cpu)");
  if (wants_bf16(choice) && choice->simd && strncmp(choice->simd, "avx512", 6) != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--precision: bf16 not supported (found --simd %s, expected avx512)",
                     choice->simd);
  return HEED_OK;
}

heed_status cli_choice_open(cli_state *cli, cli_choice *choice) {
  choice->opened = NULL;
  choice->may_fall_back = false;
  CLI_TRY(check_precision(cli, choice));
  if (choice->named && strcmp(choice->backend, "cpu") != 0) CLI_TRY(find_named(cli, choice));
  if (strcmp(choice->backend, "cpu") == 0) return open_cpu(cli, choice, "selected by --backend");
  if (strcmp(choice->backend, "vulkan") == 0)
    return open_vulkan(cli, choice, "selected by --backend");
  if (strcmp(choice->backend, "auto") == 0)
    return wants_bf16(choice) ? open_cpu(cli, choice, "selected by --precision bf16")
                              : open_auto(cli, choice);
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--backend: unknown backend (found \"%s\", expected auto, vulkan or cpu)",
                   choice->backend);
}

bool cli_choice_fall_back(cli_state *cli, cli_choice *choice, heed_status status) {
  const bool device_fault = status == HEED_NO_DEVICE || status == HEED_OUT_OF_DEVICE_MEMORY ||
                            status == HEED_DEVICE_LOST || status == HEED_DEVICE_FAILED ||
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
