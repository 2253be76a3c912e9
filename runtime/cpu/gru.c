/* gru: r, z = sigmoid of their gates; n = tanh(x's part + r (h's part)); h = n + z (h - n). */
#include "cpu/recurrent.h"

static f32xN cell(const float *x, const float *gates, size_t hidden, f32xN h, f32xN *c,
                  uint32_t count) {
  (void)c;
  const f32xN reset = f32_sigmoid(heed_recurrent_gate(x, gates, 0, count)),
              update = f32_sigmoid(heed_recurrent_gate(x, gates, hidden, count));
  const f32xN next = f32_tanh(f32_fma(reset, f32_load_tail(gates + 2 * hidden, count),
                                      f32_load_tail(x + 2 * hidden, count)));
  return f32_fma(update, f32_sub(h, next), next);
}

static void run(const heed_cpu_step *step) { heed_recurrent_run(step, cell); }

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_gru) = {
    .panels = 1u << HEED_RECURRENT_INPUT_WEIGHT_HH, .measure = heed_recurrent_measure, .run = run};
