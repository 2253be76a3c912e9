/* host: no device runs it. See graph/host.h. */
#include "base/status.h"
#include "gpu/builder.h"
#include "gpu/op.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  (void)node;
  heed_gpu_fail(
      builder, HEED_UNSUPPORTED,
      "a node without a kernel runs in double, on the CPU alone (expected the CPU backend)");
}

const heed_gpu_op heed_gpu_host = {.build = build};
