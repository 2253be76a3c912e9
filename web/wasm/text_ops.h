/* The ops of text towers, as in graph/op_list.h: the kernels of the modules that run them alone. */
HEED_OP(add)
HEED_OP(attention)
HEED_OP(embedding)
HEED_OP(layer_norm)
HEED_OP(linear)
HEED_OP(multiply)
