/* THE list of layers that are composed of ops and have a name of their own for heed check. CMake
 * reads it too and asks for check/layers/<name>.c (heed_case_<name>) of each. */
HEED_CASE(attention_as_convolution)
HEED_CASE(luong_attention)
HEED_CASE(multi_head_attention)
HEED_CASE(positional_encoding)
HEED_CASE(transformer_block)
