/* lstm: i, f, o = sigmoid, g = tanh of their gates; c = f c + i g; h = o tanh(c). */
#include "cpu/recurrent.h"

static f32xN cell(const float *x, const float *gates, size_t hidden, f32xN h, f32xN *c,
                  uint32_t count) {
  (void)h;
  const f32xN input = f32_sigmoid(heed_recurrent_gate(x, gates, 0, count)),
              forget = f32_sigmoid(heed_recurrent_gate(x, gates, hidden, count));
  const f32xN candidate = f32_tanh(heed_recurrent_gate(x, gates, 2 * hidden, count)),
              output = f32_sigmoid(heed_recurrent_gate(x, gates, 3 * hidden, count));
  *c = f32_fma(forget, *c, f32_mul(input, candidate));
  return f32_mul(output, f32_tanh(*c));
}

static void run(const heed_cpu_step *step) { heed_recurrent_run(step, cell); }

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_lstm) = {
    .panels = 1u << HEED_RECURRENT_INPUT_WEIGHT_HH, .measure = heed_recurrent_measure, .run = run};
