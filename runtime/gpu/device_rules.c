/* The table of devices. See device_rules.h.
 *
 * Rows and tiles are what the statistics of the drivers' compilers say of registers and spills
 * (tests/bench/NOTES.md); "reasoned" stands where heed had no compiler. */
#include "gpu/device_rules.h"

static const heed_gpu_device_rules table[] = {
    /* 255 registers a lane. Four lanes take 0.57 of the time of two with a head of 128. 16 lanes
     * read 256 bytes of a panel's row, two whole lines. */
    {.name = "NVIDIA",
     .vendor = 0x10DE,
     .row_whole = 128,
     .row_half = 128,
     .parked = 10,
     .parked_shared = 11,
     .four_lanes = true,
     .deep_steps = true,
     .tile = {8, 2, 16, 0}},
    /* 64 registers a lane leave four waves a SIMD. */
    {.name = "AMD before RDNA",
     .vendor = 0x1002,
     .least_lanes = 64,
     .row_whole = 32,
     .row_half = 32,
     .scalar_loads = HEED_GPU_SCALARS_FEW_REGISTERS,
     .tile = {8, 2, 16, 0}},
    /* Scalar loads are lost where lanes split a row. 64 sums of 256 registers a lane. */
    {.name = "AMD",
     .vendor = 0x1002,
     .row_whole = 128,
     .row_half = 256,
     .parked = 8,
     .parked_shared = 8,
     .scalar_loads = HEED_GPU_SCALARS_MANY_REGISTERS,
     .tile = {8, 2, 16, 0}},
    /* 64 registers a lane at SIMD16, of which the tile takes 52: reasoned. Of 32 lanes, as its
     * drivers report, each has half the registers. */
    {.name = "Intel",
     .vendor = 0x8086,
     .row_whole = 32,
     .row_half = 32,
     .lanes = 16,
     .tile = {8, 1, 16, 0}},
    /* 8 x 2 in fp32 spills 4 registers. */
    {.name = "Apple", .vendor = 0x106B, .row_whole = 32, .row_half = 64, .tile = {8, 1, 16, 2}},
    /* 64 registers a lane, of which the tile takes 52; subgroups of 4 to 16: reasoned. */
    {.name = "ARM", .vendor = 0x13B5, .row_whole = 32, .row_half = 32, .tile = {8, 1, 8, 0}},
    /* Adreno 618 spills past these rows; the tile takes 24 of 48 registers on A7xx, 48 on A6xx. */
    {.name = "Qualcomm",
     .vendor = 0x5143,
     .row_whole = 32,
     .row_half = 32,
     .row_floor = 16,
     .tile = {8, 1, 16, 0}},
    /* Few registers a lane. */
    {.name = "Imagination",
     .vendor = 0x1010,
     .row_whole = 32,
     .row_half = 64,
     .tile = {4, 1, 16, 0}},
    {.name = "others", .row_whole = 32, .row_half = 64, .tile = {8, 1, 16, 0}},
};

const heed_gpu_device_rules *heed_gpu_find_rules(uint32_t vendor, uint32_t least_lanes) {
  const heed_gpu_device_rules *rules = table;
  while (rules->vendor &&
         (rules->vendor != vendor || (rules->least_lanes && rules->least_lanes != least_lanes)))
    rules++;
  return rules;
}
