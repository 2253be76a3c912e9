/* The inputs of a select_rows node. */
#ifndef HEED_GRAPH_OPS_SELECT_ROWS_H
#define HEED_GRAPH_OPS_SELECT_ROWS_H

enum heed_select_rows_input { HEED_SELECT_ROWS_INPUT_X, HEED_SELECT_ROWS_INPUTS };

#endif
