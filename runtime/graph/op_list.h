/* THE list of ops: one line per op. CMake reads it too and asks for the mirrors of each:
 * graph/ops/<op>.c (heed_op_<op>), cpu/<op>.c (heed_cpu_<op>), check/ops/<op>.c (heed_case_<op>),
 * gpu/ops/<op>.c (heed_vk_<op>), shaders/<op>.comp, tests/ops/test_<op>.c. */
HEED_OP(activation)
HEED_OP(add)
HEED_OP(attention)
HEED_OP(attention_mask)
HEED_OP(concat)
HEED_OP(embedding)
HEED_OP(gru)
HEED_OP(layer_norm)
HEED_OP(linear)
HEED_OP(linear_attention)
HEED_OP(lstm)
HEED_OP(multiply)
HEED_OP(patch_embedding)
HEED_OP(permute)
HEED_OP(select_rows)
HEED_OP(softmax)
