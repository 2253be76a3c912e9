/* Push constants of embedding.comp. table [rows, C], ids [count / C] -> y. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_embedding_params)
u32 count;                  /* elements of y */
u32 first_row, rows, width; /* the rows that are bound */
u32 ids_origin, table_origin, y_origin;
HEED_PARAMS_END(heed_embedding_params)
