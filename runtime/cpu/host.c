/* host: the function of who built the graph; the same at every level. See graph/host.h. */
#include "graph/host.h"

#include "cpu/cpu_op.h"

static heed_status run(const heed_cpu_step *step, heed_error *error) {
  const heed_host_desc *desc = step->node->desc;
  return desc->compute(desc->user, step->input, step->output, error);
}

const heed_cpu_op heed_cpu_host = {.try_run = run};
