/* The arena is one for all slots: on the queue a run begins when the one before it is over, while
 * the host fills the next slot and reads the last. Copies between slot and arena are recorded with
 * the run. */
#include "vulkan/run/in_flight.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct ring_slot {
  heed_vk_buffer in, out;
  heed_vk_commands commands;
  const heed_program *recorded; /* whose commands these are */
  bool running;
} ring_slot;

struct heed_ring {
  const heed_context *context;
  heed_program *program;
  heed_vk_device *device;
  heed_spans inputs, outputs;
  VkBufferCopy *copies; /* of the inputs, then of the outputs */
  uint32_t input_copies, output_copies;
  uint64_t input_bytes, output_bytes;
  ring_slot *slots;
  uint32_t count;
};

/* Values lie one after another in a slot. */
static uint32_t make_copies(const heed_spans *spans, bool in, VkBufferCopy *copies,
                            uint64_t *bytes) {
  uint32_t count = 0;
  *bytes = 0;
  for (uint32_t i = 0; i < spans->count; i++) {
    const heed_span *span = &spans->list[i];
    if (!span->bytes) continue;
    copies[count++] = in ? (VkBufferCopy){*bytes, span->offset, span->bytes}
                         : (VkBufferCopy){span->offset, *bytes, span->bytes};
    *bytes += span->bytes;
  }
  return count;
}

/* Commands of the program that runs now. */
static heed_status record_slot(heed_ring *ring, ring_slot *slot, heed_error *error) {
  const heed_vk_copies copies = {slot->in.handle,
                                 slot->out.handle,
                                 ring->copies,
                                 ring->input_copies,
                                 ring->copies + ring->input_copies,
                                 ring->output_copies};
  if (slot->recorded == heed_vk_program_now(ring->program)) return HEED_OK;
  heed_vk_commands_destroy(&slot->commands, ring->context);
  slot->recorded = NULL;
  HEED_TRY(heed_vk_program_record(ring->program, &copies, &slot->commands, error));
  slot->recorded = heed_vk_program_now(ring->program);
  return HEED_OK;
}

static heed_status make_slot(heed_ring *ring, ring_slot *slot, heed_error *error) {
  HEED_TRY(heed_vk_mapped_create(ring->device, ring->input_bytes, &slot->in, error));
  HEED_TRY(heed_vk_mapped_create(ring->device, ring->output_bytes, &slot->out, error));
  return record_slot(ring, slot, error);
}

heed_status heed_vk_in_flight_create(heed_program *program, const heed_spans *inputs,
                                     const heed_spans *outputs, uint32_t slots, heed_ring **ring,
                                     heed_error *error) {
  const heed_context *context = program->plan->context;
  heed_ring *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "vulkan: ring", sizeof *made);
  *made = (heed_ring){.context = context,
                      .program = program,
                      .device = &program->backend->device,
                      .inputs = *inputs,
                      .outputs = *outputs};
  made->copies =
      heed_alloc(context, (size_t)inputs->count + outputs->count + 1, sizeof *made->copies);
  made->slots = heed_alloc(context, slots, sizeof *made->slots);
  heed_status status = HEED_OK;
  if (!made->copies || !made->slots)
    status = heed_fail_memory(error, "vulkan: ring", slots * sizeof *made->slots);
  if (status == HEED_OK) {
    made->count = slots;
    made->input_copies = make_copies(inputs, true, made->copies, &made->input_bytes);
    made->output_copies =
        make_copies(outputs, false, made->copies + made->input_copies, &made->output_bytes);
  }
  for (uint32_t i = 0; status == HEED_OK && i < slots; i++)
    status = make_slot(made, &made->slots[i], error);
  if (status != HEED_OK) {
    heed_vk_in_flight_destroy(made);
    return status;
  }
  *ring = made;
  return HEED_OK;
}

void heed_vk_in_flight_destroy(heed_ring *ring) {
  bool running = false;
  for (uint32_t i = 0; i < ring->count; i++) running = running || ring->slots[i].running;
  if (running) ring->device->instance.api.DeviceWaitIdle(ring->device->handle);
  for (uint32_t i = 0; i < ring->count; i++) {
    heed_vk_commands_destroy(&ring->slots[i].commands, ring->context);
    heed_vk_buffer_destroy(ring->device, &ring->slots[i].in);
    heed_vk_buffer_destroy(ring->device, &ring->slots[i].out);
  }
  heed_free(ring->context, ring->slots);
  heed_free(ring->context, ring->copies);
  heed_free(ring->context, ring);
}

heed_status heed_vk_in_flight_submit(heed_ring *ring, uint32_t index, const void *const *inputs,
                                     heed_error *error) {
  ring_slot *slot = &ring->slots[index];
  unsigned char *to = slot->in.mapped;
  for (uint32_t i = 0; i < ring->inputs.count; to += ring->inputs.list[i++].bytes)
    memcpy(to, inputs[i], (size_t)ring->inputs.list[i].bytes);
  HEED_TRY(record_slot(ring, slot, error));
  HEED_TRY(heed_vk_commands_start(&slot->commands, error));
  slot->running = true;
  return HEED_OK;
}

/* The slot's inputs once more, where a value passed 65504 in a run in fp16: in this one, or in one
 * that counted beside it. */
static heed_status run_again(heed_ring *ring, ring_slot *slot, heed_error *error) {
  HEED_TRY(heed_vk_program_widen(ring->program, NULL, error));
  if (slot->recorded == heed_vk_program_now(ring->program)) return HEED_OK;
  HEED_TRY(record_slot(ring, slot, error));
  HEED_TRY(heed_vk_commands_start(&slot->commands, error));
  return heed_vk_wait(ring->device, slot->commands.fence, error);
}

heed_status heed_vk_in_flight_collect(heed_ring *ring, uint32_t index, void *const *outputs,
                                      heed_error *error) {
  ring_slot *slot = &ring->slots[index];
  HEED_TRY(heed_vk_wait(ring->device, slot->commands.fence, error));
  slot->running = false;
  HEED_TRY(run_again(ring, slot, error));
  const unsigned char *from = slot->out.mapped;
  for (uint32_t i = 0; i < ring->outputs.count; from += ring->outputs.list[i++].bytes)
    if (outputs[i]) memcpy(outputs[i], from, (size_t)ring->outputs.list[i].bytes);
  return HEED_OK;
}
