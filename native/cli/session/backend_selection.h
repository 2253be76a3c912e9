/* Which backend runs: --backend auto|vulkan|cpu, --device, --precision, --threads, said in one line
 * on stderr. */
#ifndef HEED_CLI_SESSION_BACKEND_SELECTION_H
#define HEED_CLI_SESSION_BACKEND_SELECTION_H

#include "heed/native.h"
#include "terminal/options.h"

typedef struct cli_choice {
  const char *backend; /* option values */
  const char *named;   /* of --device */
  uint32_t device;     /* what it names */
  uint32_t threads;
  const char *simd, *precision;
  bool quiet;
  heed_backend *opened;
  bool may_fall_back; /* auto took a device: on its failure the CPU answers */
  bool reopened;      /* the device was lost once and opened again */
} cli_choice;

#define CLI_NO_DEVICE UINT32_MAX
#define CLI_CHOICE_INIT \
  { .backend = "auto", .device = CLI_NO_DEVICE, .precision = "auto" }

/* What --help says of --backend, by the verb's default. */
#define CLI_BACKEND_AUTO \
  "backend (default: auto, the first GPU that passes its self-check, else CPU)"
#define CLI_BACKEND_CPU \
  "backend (default: cpu; auto: the first GPU that passes its self-check, else CPU)"
/* The options of this choice, to be put into a verb's table. */
#define CLI_CHOICE_OPTIONS(choice, help)                                                         \
  {"--backend", CLI_TEXT, &(choice).backend, "auto|vulkan|cpu", help},                           \
      {"--device", CLI_TEXT, &(choice).named, "N",                                               \
       "Vulkan device: its index, UUID or PCI address in 'heed devices'"},                       \
      {"--precision", CLI_TEXT, &(choice).precision, "f32|f16|bf16|auto",                        \
       "Vulkan: f32, f16 or auto, which is f16 on GPUs that gain by it (default: auto); bf16: "  \
       "products of CPUs with AVX512_BF16"},                                                     \
      {"--threads", CLI_NUMBER, &(choice).threads, "N",                                          \
       "CPU threads (default: one per core that heed may use)"},                                 \
      {"--simd", CLI_TEXT, &(choice).simd, "LEVEL",                                              \
       "CPU kernels: scalar, sse2, avx2, avx2vnni, avx512, avx512vnni, neon, neondot (default: " \
       "the best)"},                                                                             \
  {                                                                                              \
    "--quiet", CLI_FLAG, &(choice).quiet, NULL, "print only errors to stderr"                    \
  }

#if HEED_HAS_VULKAN
#include "device_name.h"
#include "heed/vulkan_test.h"
/* How the command line opens a device; desc points into the rest. */
typedef struct cli_vulkan {
  heed_vulkan_desc desc;
  heed_vulkan_test test;
  char cache[1024];
} cli_vulkan;
/* Precision as the option has it; its cache under XDG_CACHE_HOME or HOME; settings, faults and
 * validation by HEED_VULKAN_* variables. Returns &vulkan->desc, which is valid as long as *vulkan.
 */
const heed_vulkan_desc *cli_vulkan_fill(cli_vulkan *vulkan, uint32_t device, const char *precision);
#endif

/* Opens the backend; says on stderr what and why. */
heed_status cli_choice_open(cli_state *cli, cli_choice *choice);
/* After `status` came from the opened backend: opens a device that was lost once more; when that
 * was done before, or another failure is the device's, and auto had taken it, opens the CPU
 * instead. Says so and returns true: try again. */
bool cli_choice_fall_back(cli_state *cli, cli_choice *choice, heed_status status);
void cli_choice_close(cli_choice *choice);

#endif
