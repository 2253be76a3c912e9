/* ggml's attention cores for vulkan_table.sh: peer_ggml BACKEND THREADS SECONDS attn. A line a shape and way, plain (two products and a
 * softmax) or flash, with the least time of its runs.
 * Built by hand, against a ggml of one's own or Debian's (trixie-backports: libggml-dev, libggml0-backend-vulkan):
 *   g++ -O2 -std=c++17 peer_ggml.cpp -o peer_ggml -lggml -lggml-base
 * GGML_BACKEND_PATH names the backend's library where ggml does not find it by itself. */
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace {

using leaves = std::vector<ggml_tensor *>;
using builder = std::function<ggml_tensor *(ggml_context *, leaves &)>;

double now() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void fill(ggml_tensor *tensor) {
  static uint32_t state = 1;
  const size_t count = static_cast<size_t>(ggml_nelements(tensor));
  std::vector<float> values(count);
  for (float &value : values) {
    state = state * 1664525u + 1013904223u;
    value = (static_cast<float>(state >> 8) / 8388608.0f - 1.0f) * 1.5f;
  }
  if (tensor->type == GGML_TYPE_F32) {
    ggml_backend_tensor_set(tensor, values.data(), 0, count * sizeof(float));
    return;
  }
  std::vector<ggml_fp16_t> half(count);
  ggml_fp32_to_fp16_row(values.data(), half.data(), static_cast<int64_t>(count));
  ggml_backend_tensor_set(tensor, half.data(), 0, count * sizeof(ggml_fp16_t));
}

/* Runs for a third of the time to warm up, then for all of it, five times at least. */
std::vector<double> time_runs(ggml_backend_t backend, ggml_cgraph *graph, double milliseconds) {
  std::vector<double> times;
  double start = now();
  do ggml_backend_graph_compute(backend, graph);
  while (now() - start < milliseconds / 3);
  for (start = now(); now() - start < milliseconds || times.size() < 5;) {
    const double before = now();
    ggml_backend_graph_compute(backend, graph);
    times.push_back(now() - before);
  }
  std::sort(times.begin(), times.end());
  return times;
}

void bench(ggml_backend_t backend, const char *way, const int *shape, const char *keys, double milliseconds, const builder &build) {
  const ggml_init_params room = {ggml_tensor_overhead() * 64 + ggml_graph_overhead(), nullptr, true};
  ggml_context *context = ggml_init(room);
  leaves inputs;
  ggml_tensor *output = build(context, inputs);
  ggml_cgraph *graph = ggml_new_graph(context);
  for (ggml_tensor *input : inputs) ggml_set_input(input);
  ggml_set_output(output);
  ggml_build_forward_expand(graph, output);
  ggml_gallocr_t memory = ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));
  if (ggml_gallocr_alloc_graph(memory, graph)) {
    for (ggml_tensor *input : inputs) fill(input);
    const std::vector<double> times = time_runs(backend, graph, milliseconds);
    std::printf("ggml %s 1x%dx%dx64 %s  median %.3f ms  min %.3f  n %zu\n", way, shape[0], shape[1], keys, times[times.size() / 2], times[0], times.size());
    std::fflush(stdout);
  }
  ggml_gallocr_free(memory);
  ggml_free(context);
}

ggml_tensor *leaf(ggml_context *context, leaves &inputs, ggml_type type, int64_t a, int64_t b, int64_t c) {
  ggml_tensor *made = ggml_new_tensor_3d(context, type, a, b, c);
  inputs.push_back(made);
  return made;
}

ggml_tensor *plain(ggml_context *context, leaves &inputs, int heads, int tokens) {
  ggml_tensor *query = leaf(context, inputs, GGML_TYPE_F32, 64, tokens, heads), *key = leaf(context, inputs, GGML_TYPE_F32, 64, tokens, heads);
  ggml_tensor *value = leaf(context, inputs, GGML_TYPE_F32, tokens, 64, heads);
  return ggml_mul_mat(context, value, ggml_soft_max_ext(context, ggml_mul_mat(context, key, query), nullptr, 0.125f, 0.0f));
}

ggml_tensor *flash(ggml_context *context, leaves &inputs, ggml_type type, int heads, int tokens) {
  ggml_tensor *query = leaf(context, inputs, GGML_TYPE_F32, 64, tokens, heads);
  ggml_tensor *key = leaf(context, inputs, type, 64, tokens, heads), *value = leaf(context, inputs, type, 64, tokens, heads);
  return ggml_flash_attn_ext(context, query, key, value, nullptr, 0.125f, 0.0f, 0.0f);
}

}  // namespace

int main(int count, char **words) {
  static const int shapes[][2] = {{12, 197}, {12, 1024}, {8, 2048}};
  if (count < 4) {
    std::fprintf(stderr, "usage: peer_ggml BACKEND THREADS SECONDS [attn]\n");
    return 2;
  }
  ggml_backend_load_all();
  ggml_backend_t backend = ggml_backend_init_by_name(words[1], nullptr);
  if (!backend) {
    std::fprintf(stderr, "no backend %s\n", words[1]);
    return 1;
  }
  ggml_backend_reg_t family = ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
  if (void *set = ggml_backend_reg_get_proc_address(family, "ggml_backend_set_n_threads"))
    reinterpret_cast<ggml_backend_set_n_threads_t>(set)(backend, std::atoi(words[2]));
  const double milliseconds = 1e3 * std::atof(words[3]);
  for (const int *shape : shapes) {
    const int heads = shape[0], tokens = shape[1];
    bench(backend, "plain", shape, "f32", milliseconds, [=](ggml_context *c, leaves &l) { return plain(c, l, heads, tokens); });
    for (ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16})
      bench(backend, "flash", shape, ggml_type_name(type), milliseconds, [=](ggml_context *c, leaves &l) { return flash(c, l, type, heads, tokens); });
  }
  ggml_backend_free(backend);
  return 0;
}
