/* heed on Vulkan: a backend for any device with Vulkan 1.1, compute shaders and 8 storage buffers a
 * stage. The loader is opened at run time, so a program that links this runs where there is no
 * Vulkan, and is told so (HEED_NO_DEVICE).
 * Statuses beside heed.h's rule: HEED_DEVICE_LOST once the device is gone (every later call says it
 * again; destroy still works), HEED_OUT_OF_DEVICE_MEMORY, HEED_DEVICE_FAILED for anything else that
 * the driver reports. */
#ifndef HEED_VULKAN_H
#define HEED_VULKAN_H

#include "heed/heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the Khronos layer watches: nothing; the API's rules and synchronisation; also every access
 * of a shader, by instrumented code. */
typedef enum heed_vulkan_validation {
  HEED_VULKAN_VALIDATE_OFF,
  HEED_VULKAN_VALIDATE_SYNC,
  HEED_VULKAN_VALIDATE_GPU
} heed_vulkan_validation;

/* How the weights of products (linear, patch_embedding) are kept, and what passes from linear and
 * attention to linear and attention alone: query, key, value, an attention's output, the hidden
 * layer of an MLP. Sums, the residual stream, norms, softmax, attention maps, logits, outputs and
 * taps are F32 always. F16 is half the bytes; a weight past 65504 is refused when a session is
 * created (UNSUPPORTED). AUTO: F16 on a GPU with 16-bit storage, F32 elsewhere. */
typedef enum heed_vulkan_precision {
  HEED_VULKAN_PRECISION_F32 = 0,
  HEED_VULKAN_PRECISION_F16 = 1,
  HEED_VULKAN_PRECISION_AUTO = 2
} heed_vulkan_precision;

/* Which kernels run. Each tier has all of those below it, and a device has the highest whose
 * features and limits it offers: the least that heed needs; row sums by subgroup arithmetic; also
 * 16-bit storage; also cooperative matrices (VK_KHR_cooperative_matrix, then
 * VK_NV_cooperative_matrix2), which only products with weights in fp16 use. AUTO: the device's
 * own. */
typedef enum heed_vulkan_tier {
  HEED_VULKAN_TIER_AUTO = 0,
  HEED_VULKAN_TIER_FLOOR = 1,
  HEED_VULKAN_TIER_SUBGROUP = 2,
  HEED_VULKAN_TIER_HALF = 3,
  HEED_VULKAN_TIER_COOPERATIVE = 4,
  HEED_VULKAN_TIER_COOPERATIVE_2 = 5
} heed_vulkan_tier;
/* "auto", "floor", "subgroup", "half", "cooperative", "cooperative2"; NULL for another number. */
HEED_API const char *heed_vulkan_tier_name(heed_vulkan_tier tier);

/* Its default device is -1, so HEED_VULKAN_DESC_INIT takes the place of HEED_DESC. */
typedef struct heed_vulkan_desc {
  size_t struct_size;
  /* index as heed_vulkan_device_list counts; -1: the first usable one */
  int32_t device;
  /* where compiled pipelines and the self-check's result are kept; made when missing; NULL:
   * nowhere */
  const char *cache_directory;
  /* treat memory as not visible to the host: device-local buffers and staging copies */
  bool force_staging;
  heed_vulkan_precision precision;
  heed_vulkan_validation validate; /* UNSUPPORTED where the Khronos layer is not installed */
  /* Faults to be played, for tests. */
  /* from this submission on (1 = the first) the device is lost; 0: never */
  uint32_t lose_at_submit;
  uint64_t memory_limit; /* device memory past this many bytes is refused; 0: no limit */
  bool gpu_kernels;      /* choose kernels as for a GPU on a software device too */
  /* behave as a device that has no more than heed needs: 128 invocations, 8 storage buffers */
  bool floor;
  /* most bytes of one binding, past which work is cut; 0: the device's own */
  uint64_t range_limit;
  /* kernels of this tier and none above it; UNSUPPORTED where the device has less */
  heed_vulkan_tier tier;
  /* most operations of one submission; 0: as many as this device does in about 100 ms, all on a
   * software device */
  uint64_t submit_flops;
  /* most bytes of device memory to take; 0: what the driver says is left (VK_EXT_memory_budget),
   * else 90 % of a heap */
  uint64_t memory_budget;
  /* workgroups that fill the device: work that makes fewer is cut along depth or keys; 0: as its
   * kind and vendor suggest */
  uint32_t fill;
  uint32_t vendor; /* number of the vendor whose tiles are taken; 0: the device's own */
  /* number of the tile that heed_vulkan_tune tries, for every product and attention; 0: as
   * measured, or as the tables say */
  uint32_t choice;
  /* dispatches have no workgroups: a run costs what the host and the driver take, and computes
   * nothing */
  bool null_dispatch;
} heed_vulkan_desc;
#define HEED_VULKAN_DESC_INIT                                                                  \
  {                                                                                            \
    sizeof(heed_vulkan_desc), -1, NULL, false, HEED_VULKAN_PRECISION_F32,                      \
        HEED_VULKAN_VALIDATE_OFF, 0, 0, false, false, 0, HEED_VULKAN_TIER_AUTO, 0, 0, 0, 0, 0, \
        false                                                                                  \
  }

/* The Vulkan backend (NULL: defaults). Copies desc, borrows context. Statuses: NO_DEVICE (no
 * loader, no device, no such index), UNSUPPORTED (the device lacks something), OUT_OF_MEMORY,
 * DEVICE_FAILED. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_backend_create(heed_context *context,
                                                               const heed_vulkan_desc *desc,
                                                               heed_backend **backend,
                                                               heed_error *error);
/* Submissions to the device's queue so far. A run is one, unless it would take so long that a
 * watchdog could end it. */
HEED_API uint32_t heed_vulkan_submission_count(const heed_backend *backend);
/* Messages that validation has given so far; 0 without it. They also go to the log. */
HEED_API uint32_t heed_vulkan_message_count(const heed_backend *backend);

typedef struct heed_vulkan_tuning {
  /* products and attentions that were measured; those for which another tile was at least 3 %
   * faster */
  uint32_t shapes, changed;
  double before, after; /* microseconds of all of them */
} heed_vulkan_tuning;

/* Measures the tiles that the graph's linears and attentions may run with, cooperative matrices'
 * too, each with the device's timestamps, and keeps the fastest beside the pipeline cache. Backends
 * that are opened later on the same device, driver and build with that directory take them; this
 * one goes on as it is. Statuses: UNSUPPORTED (not on Vulkan, no timestamps, no cache directory),
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

typedef struct heed_vulkan_device_info {
  char name[256], driver[256];
  uint32_t api_major, api_minor, api_patch;
  heed_vulkan_device_type type;
  uint32_t vendor_id, device_id;
  uint8_t device_uuid[16], driver_uuid[16];
  uint32_t subgroup_size;
  heed_vulkan_tier tier; /* the highest it has */
  uint32_t max_invocations, max_shared_bytes, max_push_bytes, max_storage_buffers;
  /* largest binding, in bytes; tensors past it are worked on in pieces */
  uint64_t max_storage_range;
  uint64_t device_memory; /* bytes of the device-local heaps */
  char unusable[160];     /* why heed cannot use it; "" when it can */
} heed_vulkan_device_info;

/* Devices of this machine. *count: in, the room in infos; out, how many there are (infos may be
 * NULL with *count 0). Statuses: NO_DEVICE (no loader or no device), OUT_OF_MEMORY,
 * DEVICE_FAILED. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_device_list(heed_context *context,
                                                            heed_vulkan_device_info *infos,
                                                            uint32_t *count, heed_error *error);

typedef struct heed_vulkan_check {
  bool passed;
  bool remembered;  /* taken from an earlier check of the same device, driver, build and kernels */
  uint32_t kernels; /* how many were run */
  char worst[48];   /* the op that was furthest off */
  double max_error; /* its difference, relative to 1 + |expected| */
} heed_vulkan_check;

/* Runs every op, and a layer of a ViT, on small random inputs and compares each result with the CPU
 * backend's (tolerance 1e-4; 2e-3 with weights in F16). With a cache directory in desc the record
 * is kept beside the pipeline cache, by device, driver, build, tier, precision and the graph that
 * was run. A mismatch is no error: check->passed is false. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_self_check(heed_context *context,
                                                           const heed_vulkan_desc *desc,
                                                           heed_vulkan_check *check,
                                                           heed_error *error);

/* What a device does at best, measured on it: multiply-adds in registers alone, a copy's bytes read
 * and written. */
typedef struct heed_vulkan_ceiling {
  /* in billions of operations a second, two a multiply-add; f16 0 where the device has no
   * arithmetic in fp16 */
  double f32_gflops, f16_gflops;
  /* by cooperative matrices, fp16 factors and fp32 sums; 0 where products are made without */
  double matrix_gflops;
  double copy_gbs; /* in billions of bytes a second, read and written together */
} heed_vulkan_ceiling;

/* Runs kernels of its own for some tens of milliseconds. Statuses: INVALID_ARGUMENT (not a Vulkan
 * backend), UNSUPPORTED (no timestamps), OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_vulkan_measure_ceiling(heed_backend *backend,
                                                                heed_vulkan_ceiling *ceiling,
                                                                heed_error *error);

#ifdef __cplusplus
}
#endif
#endif
