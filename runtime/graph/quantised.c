/* Constants stored in int8, one scale per row. */
#include "graph/quantised.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"

heed_status heed_quantised_read(const heed_quantised *quantised, uint64_t first, uint64_t count,
                                int8_t *to, heed_error *error) {
  if (!quantised->data) return quantised->read(quantised->read_user, first, count, to, error);
  memcpy(to, quantised->data + (size_t)first, (size_t)count);
  return HEED_OK;
}

/* As floats. The bytes are read into the end of `to`, where the float of each is written no sooner
 * than it has been taken. */
static heed_status read_floats(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  const heed_quantised *quantised = user;
  unsigned char *out = to;
  const unsigned char *bytes = out + (size_t)count * (sizeof(float) - 1);
  HEED_TRY(heed_quantised_read(quantised, first, count, (int8_t *)to + (bytes - out), error));
  for (uint64_t i = 0; i < count; i++) {
    int8_t number;
    memcpy(&number, bytes + i, 1);
    const float value = (float)number * quantised->scale[(first + i) / quantised->depth];
    memcpy(out + i * sizeof value, &value, sizeof value);
  }
  return HEED_OK;
}

static heed_status check(const heed_quantised_desc *desc, const char *what, heed_error *error) {
  if (desc->shape.rank == 0 || heed_shape_count(&desc->shape) == 0 || !desc->scale ||
      (!desc->data && !desc->read))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: invalid int8 constant (found %u axes, expected at least one element, "
                     "scales, and data or read)",
                     what, desc->shape.rank);
  for (uint32_t row = 0; row < desc->shape.dim[0]; row++)
    if (!isfinite(desc->scale[row]))
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "%s: invalid scale of row %u (found %g, expected a finite number)", what,
                       row, (double)desc->scale[row]);
  return HEED_OK;
}

heed_value heed_define_quantised(heed_graph *graph, const heed_quantised_desc *desc) {
  if (graph->status != HEED_OK) return (heed_value){0};
  heed_quantised_desc full;
  heed_error error;
  if (!heed_graph_read_desc(graph, &full, sizeof full, desc, "int8 constant"))
    return (heed_value){0};
  if (check(&full, full.name ? full.name : "int8 constant", &error) != HEED_OK)
    return heed_graph_fail(graph, &error);
  const heed_quantised quantised = {full.scale, heed_shape_count(&full.shape) / full.shape.dim[0],
                                    full.data, full.read, full.read_user};
  heed_quantised *kept = heed_graph_keep(graph, &quantised, sizeof quantised);
  if (!kept) return (heed_value){0};
  const heed_constant_desc floats = {.struct_size = sizeof floats,
                                     .name = full.name,
                                     .dtype = HEED_F32,
                                     .shape = full.shape,
                                     .read = read_floats,
                                     .read_user = kept};
  const heed_value value = heed_define_constant(graph, &floats);
  if (value.id) graph->values[value.id - 1].quantised = kept;
  return value;
}
