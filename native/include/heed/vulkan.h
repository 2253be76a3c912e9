/* heed on Vulkan: a backend for any device with Vulkan 1.1, compute shaders and 8 storage buffers
 * per stage.
 *
 * The loader is opened at run time. A program that links this also runs where there is no Vulkan,
 * and gets HEED_NO_DEVICE there. Once a device is lost, every later call returns HEED_DEVICE_LOST,
 * and destroying still works. HEED_DEVICE_FAILED is for anything else that the driver reports.
 *
 * EXPERIMENTAL has the meaning that it has in heed/heed.h. docs/vulkan.md explains tiers, precision
 * and tuning. */
#ifndef HEED_VULKAN_H
#define HEED_VULKAN_H

#include "heed/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the Khronos layer checks. */
typedef enum heed_vulkan_validation {
  HEED_VULKAN_VALIDATE_OFF,
  HEED_VULKAN_VALIDATE_SYNC, /* the API's rules, and synchronisation */
  HEED_VULKAN_VALIDATE_GPU   /* also memory accesses of shaders, by instrumented code */
} heed_vulkan_validation;

/* How the model weights of linear and patch_embedding are stored. The same format holds values that
 * pass from linear and attention to linear and attention alone: query, key, value, an attention's
 * output, the hidden layer of an MLP. Always F32 are accumulators, the residual stream, norms,
 * softmax, attention maps, logits, outputs and taps. F16 takes half the bytes. A weight whose
 * magnitude exceeds 65504 is then refused when a session is created (UNSUPPORTED). */
typedef enum heed_vulkan_precision {
  HEED_VULKAN_PRECISION_F32 = 0,
  HEED_VULKAN_PRECISION_F16 = 1,
  /* F16 on a GPU of tier HALF or above, but AMD's before RDNA, which gain nothing by it; else F32
   */
  HEED_VULKAN_PRECISION_AUTO = 2
} heed_vulkan_precision;

/* A set of kernels that need the same device features. Each tier includes those before it. A device
 * has the highest tier whose features and limits it offers. */
typedef enum heed_vulkan_tier {
  /* the device's own, but COOPERATIVE_2 only when named, and COOPERATIVE only where its products
   * were measured to be 1.5 times as fast as those of F32 */
  HEED_VULKAN_TIER_AUTO = 0,
  HEED_VULKAN_TIER_FLOOR = 1,       /* the least that heed needs */
  HEED_VULKAN_TIER_SUBGROUP = 2,    /* row sums by subgroup arithmetic */
  HEED_VULKAN_TIER_HALF = 3,        /* values and weights in F16 */
  HEED_VULKAN_TIER_COOPERATIVE = 4, /* VK_KHR_cooperative_matrix, for matmuls with F16 weights */
  /* EXPERIMENTAL: may go. VK_NV_cooperative_matrix2, for the same */
  HEED_VULKAN_TIER_COOPERATIVE_2 = 5
} heed_vulkan_tier;
/* "auto", "floor", "subgroup", "half", "cooperative", "cooperative2"; NULL for any other number. */
HEED_API const char *heed_vulkan_tier_name(heed_vulkan_tier tier);

struct heed_vulkan_test;

/* Its default device is -1, so HEED_VULKAN_DESC_INIT takes the place of HEED_DESC. */
typedef struct heed_vulkan_desc {
  size_t struct_size;
  /* index as heed_vulkan_device_list counts; -1: the best usable kind (heed_vulkan_device_rank), of
   * one kind the first */
  int32_t device;
  /* folder of compiled pipelines and of the self-check's result, which is made when it is missing;
   * NULL: nothing is kept */
  const char *cache_directory;
  heed_vulkan_precision precision;
  heed_vulkan_validation validate; /* UNSUPPORTED where the Khronos layer is not installed */
  /* kernels of this tier and none above it; UNSUPPORTED where the device has less */
  heed_vulkan_tier tier;
  /* most bytes of device memory to take; 0: what the driver reports as left
   * (VK_EXT_memory_budget), else 90 % of a heap */
  uint64_t memory_budget;
  /* workgroups that fill the device: work that makes fewer is split along depth or keys; 0: by the
   * device's type */
  uint32_t fill;
  /* heed_vulkan_self_check runs again where it failed before; false: after a day */
  bool check_again;
  const struct heed_vulkan_test *test; /* NULL; for heed's own tests, and not installed */
} heed_vulkan_desc;
#define HEED_VULKAN_DESC_INIT                                                                \
  {                                                                                          \
    sizeof(heed_vulkan_desc), -1, NULL, HEED_VULKAN_PRECISION_F32, HEED_VULKAN_VALIDATE_OFF, \
        HEED_VULKAN_TIER_AUTO, 0, 0, false, NULL                                             \
  }

/* The Vulkan backend (desc NULL: defaults). Copies desc, borrows context. Statuses:
 * INVALID_ARGUMENT, NO_DEVICE (no loader, no device, no such index), UNSUPPORTED (the device lacks
 * something), OUT_OF_MEMORY, DEVICE_FAILED. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_backend_create(heed_context *context,
                                                               const heed_vulkan_desc *desc,
                                                               heed_backend **backend,
                                                               heed_error *error);
/* EXPERIMENTAL: may change. The number of submissions to the device's queue. A run is one, unless
 * it would take so long that a watchdog could end it. */
HEED_API uint32_t heed_vulkan_submission_count(const heed_backend *backend);
/* EXPERIMENTAL: may change. The number of validation messages; 0 without validation. The log
 * receives them too. */
HEED_API uint32_t heed_vulkan_message_count(const heed_backend *backend);

/* EXPERIMENTAL: may change. What heed_vulkan_tune found. */
typedef struct heed_vulkan_tuning {
  uint32_t shapes;      /* linears and attentions that were measured */
  uint32_t changed;     /* those for which another tile was at least 3 % faster */
  double before, after; /* microseconds of all of them */
} heed_vulkan_tuning;

/* EXPERIMENTAL: may change. Measures the tiles that the graph's linears and attentions may run
 * with, by the device's timestamps, and caches the fastest beside the pipelines. Backends created
 * later with that directory, on the same device, driver and build, use them. This backend continues
 * unchanged. Statuses: UNSUPPORTED (not on Vulkan, no timestamps, no cache directory),
 * OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_LOST. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_tune(heed_backend *backend, const heed_graph *graph,
                                                     heed_vulkan_tuning *tuning, heed_error *error);

typedef enum heed_vulkan_device_type {
  HEED_VULKAN_OTHER = 0,
  HEED_VULKAN_INTEGRATED = 1,
  HEED_VULKAN_DISCRETE = 2,
  HEED_VULKAN_VIRTUAL = 3,
  HEED_VULKAN_CPU = 4
} heed_vulkan_device_type;

/* EXPERIMENTAL: may change. Which kind is taken first where none is named: 0 a discrete GPU, 1 an
 * integrated one, 2 a virtual one, 3 another, 4 a software device. */
HEED_API uint32_t heed_vulkan_device_rank(heed_vulkan_device_type type);

#define HEED_VULKAN_ADDRESS_SIZE 16

typedef struct heed_vulkan_device_info {
  char name[256], driver[256];
  uint32_t api_major, api_minor, api_patch;
  heed_vulkan_device_type type;
  uint32_t vendor_id, device_id;
  uint8_t device_uuid[16], driver_uuid[16];
  uint32_t subgroup_size;
  heed_vulkan_tier tier; /* the highest that it supports */
  uint32_t max_invocations, max_shared_bytes, max_push_bytes, max_storage_buffers;
  /* largest binding, in bytes; an op on a larger tensor is split */
  uint64_t max_storage_range;
  uint64_t device_memory;                     /* bytes of the device-local heaps */
  char unusable[160];                         /* why heed cannot use it; "" when it can */
  char pci_address[HEED_VULKAN_ADDRESS_SIZE]; /* "0000:03:00.0"; "" where the driver does not say */
} heed_vulkan_device_info;

/* Lists the devices of this machine. *count is the room in infos before the call, and the number of
 * devices after it. infos may be NULL with *count 0. Statuses: NO_DEVICE (no loader or no device),
 * OUT_OF_MEMORY, DEVICE_FAILED. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_device_list(heed_context *context,
                                                            heed_vulkan_device_info *infos,
                                                            uint32_t *count, heed_error *error);

typedef struct heed_vulkan_check {
  bool passed;
  bool remembered;  /* cached by an earlier check of the same device, driver, build and kernels */
  uint32_t kernels; /* how many ran */
  char worst[48];   /* the op with the largest error, and its kernel: "linear (linear_half)" */
  double max_error; /* that error, relative to 1 + |expected| */
} heed_vulkan_check;

/* Runs every op and a layer of a ViT on small random inputs, and products and attentions in the
 * sizes of models, below 10^9 operations in all. Compares each result with the CPU backend's. The
 * tolerance is 1e-4, and 2e-3 with weights in F16. With a cache directory the result is cached by
 * device, driver, build, tier, precision and the graph that ran. A mismatch is no error:
 * check->passed is false. Statuses: as heed_vulkan_backend_create, heed_session_create and
 * heed_session_run. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_self_check(heed_context *context,
                                                           const heed_vulkan_desc *desc,
                                                           heed_vulkan_check *check,
                                                           heed_error *error);

/* EXPERIMENTAL: may change. The measured peak of a device. */
typedef struct heed_vulkan_ceiling {
  /* multiply-adds in registers, in 10^9 operations per second, two per multiply-add; f16 is 0 where
   * the device has no fp16 arithmetic */
  double f32_gflops, f16_gflops;
  /* the same by cooperative matrices, with fp16 factors and fp32 accumulators; 0 where matmuls do
   * not use them */
  double matrix_gflops;
  double copy_gbs; /* a copy, in 10^9 bytes per second, read and written */
} heed_vulkan_ceiling;

/* EXPERIMENTAL: may change. Runs kernels of its own for some tens of milliseconds. Statuses:
 * INVALID_ARGUMENT (not a Vulkan backend), UNSUPPORTED (no timestamps), OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_measure_ceiling(heed_backend *backend,
                                                                heed_vulkan_ceiling *ceiling,
                                                                heed_error *error);

#ifdef __cplusplus
}
#endif
#endif
