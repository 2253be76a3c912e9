/* A plan as buffers, pipelines and command buffers. */
#ifndef HEED_VULKAN_RUN_PROGRAM_H
#define HEED_VULKAN_RUN_PROGRAM_H

#include "vulkan/host/backend_state.h"
#include "vulkan/plan/commands.h"

struct heed_program {
  heed_vk_backend *backend;
  const heed_plan *plan;
  const heed_gpu_limits *limits; /* that its kernels are chosen by */
  heed_vk_transfer transfer;
  heed_vk_places places;
  size_t block_count;
  heed_vk_commands commands;
  bool borrows_arena; /* of the program that it takes the place of */
  /* Once a finite value has passed 65504, which fp16 has no number for: the same plan in fp32, on
   * the same arena, so that its inputs are still there. All runs from then on are its runs. */
  heed_program *fp32;
  heed_gpu_limits fp32_limits;
};

heed_status heed_vk_program_create(heed_vk_backend *vulkan, const heed_plan *plan,
                                   const heed_hooks *hooks, heed_program **program,
                                   heed_error *error);
void heed_vk_program_destroy(heed_program *program);
heed_status heed_vk_program_run(heed_program *program, const heed_hooks *hooks, heed_error *error);

/* The program whose commands run now: the one in fp32, where there is one. */
static inline heed_program *heed_vk_program_now(heed_program *program) {
  return program->fp32 ? program->fp32 : program;
}
/* After a run: sees to it that there is a program in fp32 if a value passed 65504, and reports that
 * once. */
heed_status heed_vk_program_widen(heed_program *program, const heed_hooks *hooks,
                                  heed_error *error);
/* Records the program that runs now, with copies before and after. */
heed_status heed_vk_program_record(heed_program *program, const heed_vk_copies *copies,
                                   heed_vk_commands *commands, heed_error *error);

#endif
