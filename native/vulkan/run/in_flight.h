/* Runs of a program in flight: each slot has mapped memory for its inputs and outputs and command
 * buffers that copy them in and out. */
#ifndef HEED_VULKAN_RUN_IN_FLIGHT_H
#define HEED_VULKAN_RUN_IN_FLIGHT_H

#include "backend/backend.h"
#include "vulkan/run/program.h"

/* Borrows program and spans. */
heed_status heed_vk_in_flight_create(heed_program *program, const heed_spans *inputs,
                                     const heed_spans *outputs, uint32_t slots, heed_ring **ring,
                                     heed_error *error);
void heed_vk_in_flight_destroy(heed_ring *ring);
heed_status heed_vk_in_flight_submit(heed_ring *ring, uint32_t slot, const void *const *inputs,
                                     heed_error *error);
heed_status heed_vk_in_flight_collect(heed_ring *ring, uint32_t slot, void *const *outputs,
                                      heed_error *error);

#endif
