/* ncnn on a ViT for vulkan_table.sh (Vulkan) and peers.mjs (CPU): peer_ncnn FILE.param WIDTH HEIGHT THREADS DEVICE FP16 SECONDS, where DEVICE -1 is the
 * CPU and FP16 0 or 1. Weights are small made-up numbers; prints the median and the least time of its runs.
 * FILE.param: ncnn's own examples have vision_transformer.param (ViT-B/32, 384 pixels). Ti.param, S.param and B.param are that file with the width
 * (768), the MLP's (3072), width squared (589824), heads, tokens (145) and patch of those models for 224 pixels in patches of 16.
 * Built by hand against an ncnn of one's own: g++ -O2 -std=c++17 -fopenmp peer_ncnn.cpp -o peer_ncnn -I INSTALLED/include/ncnn INSTALLED/lib/libncnn.a -ldl,
 * and glslang's libraries where ncnn was built with Vulkan on those of the system */
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "datareader.h"
#include "net.h"
#if NCNN_VULKAN
#include "gpu.h"
#endif

namespace {

double now() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/* Weights out of nothing: a word by itself is the tag of plain F32. */
class made_up : public ncnn::DataReader {
 public:
  int scan(const char *, void *) const override { return 0; }
  size_t read(void *to, size_t bytes) const override {
    if (bytes == sizeof(uint32_t)) {
      std::memset(to, 0, bytes);
      return bytes;
    }
    float *values = static_cast<float *>(to);
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
      state = state * 1664525u + 1013904223u;
      values[i] = (static_cast<float>(state >> 8) / 8388608.0f - 1.0f) * 0.05f;
    }
    return bytes;
  }

 private:
  mutable uint32_t state = 1;
};

void set_options(ncnn::Net &net, int threads, int device, bool half) {
  net.opt.num_threads = threads;
  net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = half;
  net.opt.use_bf16_storage = false;
#if NCNN_VULKAN
  net.opt.use_vulkan_compute = device >= 0;
  if (device >= 0) net.set_vulkan_device(device);
#else
  (void)device;
#endif
}

void run(const ncnn::Net &net, const ncnn::Mat &pixels) {
  ncnn::Mat result;
  ncnn::Extractor extractor = net.create_extractor();
  extractor.input(net.input_names()[0], pixels);
  extractor.extract(net.output_names()[0], result);
}

}  // namespace

int main(int count, char **words) {
  if (count != 8) {
    std::fprintf(stderr, "usage: peer_ncnn FILE.param WIDTH HEIGHT THREADS DEVICE FP16 SECONDS\n");
    return 2;
  }
  const double milliseconds = 1e3 * std::atof(words[7]);
  ncnn::Net net;
  set_options(net, std::atoi(words[4]), std::atoi(words[5]), std::atoi(words[6]) != 0);
  if (net.load_param(words[1]) != 0 || net.load_model(made_up()) != 0) {
    std::fprintf(stderr, "%s cannot be loaded\n", words[1]);
    return 1;
  }
  ncnn::Mat pixels(std::atoi(words[2]), std::atoi(words[3]), 3);
  float *pixel = pixels;
  for (size_t i = 0; i < pixels.total(); i++) pixel[i] = static_cast<float>(i * 7919 % 2001) / 1000.0f - 1.0f;
  std::vector<double> times;
  double start = now();
  do run(net, pixels);
  while (now() - start < milliseconds / 3);
  for (start = now(); now() - start < milliseconds || times.size() < 5;) {
    const double before = now();
    run(net, pixels);
    times.push_back(now() - before);
  }
  std::sort(times.begin(), times.end());
  std::printf("ncnn %s  median %.2f ms  min %.2f  n %zu\n", words[1], times[times.size() / 2], times[0], times.size());
  return 0;
}
