/* Push constants of depthwise.comp: x [B, C, height, width], y [B, O, rows, columns]. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_depthwise_params)
u32 count;             /* elements of y */
u32 channels, outputs; /* C, O */
u32 height, width, rows, columns;
u32 kernel_rows, kernel_columns;
u32 stride_rows, stride_columns;
u32 dilation_rows, dilation_columns;
i32 top, left; /* of the first window: minus the padding in front */
i32 low_row, high_row, low_column, high_column; /* where a mean counts */
u32 x_origin, weight_origin, bias_origin, y_origin;
HEED_PARAMS_END(heed_depthwise_params)
