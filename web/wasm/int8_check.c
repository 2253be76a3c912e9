/* For tests: a product of int8 on any level of the module. See shim.h. */
#include "base/status.h"
#include "base/tensor.h"
#include "shim.h"

typedef struct product {
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
} product;

const char *heed_web_int8_level(uint32_t index) { return heed_cpu_level(index); }

static heed_status multiply(heed_web *web, product *p, const heed_quantised_desc *weight,
                            const float *x, uint32_t rows, float *y) {
  const uint32_t columns = weight->shape.dim[0], depth = weight->shape.dim[1];
  const heed_shape shape = HEED_SHAPE(rows, depth);
  HEED_TRY(heed_graph_create(web->context, &p->graph, &web->error));
  const heed_value input = heed_define_input(p->graph, "x", HEED_F32, &shape);
  const heed_linear_desc desc = {
      .struct_size = sizeof desc, .x = input, .weight = heed_define_quantised(p->graph, weight)};
  const heed_value output = heed_define_linear(p->graph, &desc);
  heed_graph_output(p->graph, output);
  HEED_TRY(heed_plan_create(p->graph, p->backend, NULL, &p->plan, &web->error));
  HEED_TRY(heed_session_create(p->plan, NULL, &p->session, &web->error));
  HEED_TRY(heed_session_write(p->session, input, x, (size_t)rows * depth * sizeof *x, &web->error));
  HEED_TRY(heed_session_run(p->session, NULL, &web->error));
  return heed_session_read(p->session, output, 0, (uint64_t)rows * columns, y, &web->error);
}

heed_status heed_web_int8_linear(heed_web *web, const char *level, uint32_t rows, uint32_t depth,
                                 uint32_t columns, const float *x, const int8_t *weight,
                                 const float *scale, float *y) {
  product p = {NULL, NULL, NULL, NULL};
  const heed_cpu_desc cpu = {sizeof cpu, 1, level};
  const heed_quantised_desc desc = {.struct_size = sizeof desc,
                                    .shape = HEED_SHAPE(columns, depth),
                                    .scale = scale,
                                    .data = weight};
  heed_status status = heed_cpu_backend_create(web->context, &cpu, &p.backend, &web->error);
  if (status == HEED_OK) status = multiply(web, &p, &desc, x, rows, y);
  heed_session_destroy(p.session);
  heed_plan_destroy(p.plan);
  heed_graph_destroy(p.graph);
  heed_backend_destroy(p.backend);
  return status;
}
