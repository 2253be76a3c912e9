/* The ops of the models that JavaScript opens, vision transformers, as in graph/op_list.h: the
 * kernels of the modules that run them. Another op is refused with "no kernel for" its name. */
HEED_OP(add)
HEED_OP(attention)
HEED_OP(concat)
HEED_OP(layer_norm)
HEED_OP(linear)
HEED_OP(multiply)
HEED_OP(patch_embedding)
HEED_OP(permute)
HEED_OP(rotary)
HEED_OP(select_rows)
