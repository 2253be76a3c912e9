# Every SPIR-V module: heed_shader(NAME [SOURCE file.comp] [DEFINES ...]). Each op has one of its own name; further variants of a
# source stand here too. C names a module HEED_SHADER_<NAME>.
foreach(op IN LISTS HEED_OPS)
  heed_shader(${op})
endforeach()
heed_shader(attention_weights SOURCE attention.comp DEFINES HEED_WEIGHTS) # also stores weights and logits
heed_shader(attention_matrix NEEDS HEED_SHADERS_COOPERATIVE) # the one kernel by cooperative matrices
heed_shader(attention_matrix_reduce SOURCE attention_matrix.comp DEFINES HEED_REDUCE NEEDS HEED_SHADERS_COOPERATIVE2 ENV vulkan1.3) # its logits in registers
# Attention in three dispatches, for devices whose registers or compilers do not take the one kernel.
heed_shader(attention_scores)
heed_shader(attention_scores_additive SOURCE attention_scores.comp DEFINES HEED_ADDITIVE)
heed_shader(attention_norm)
heed_shader(attention_values)
# Weights in fp16.
heed_shader(linear_half SOURCE linear.comp DEFINES HEED_HALF)
heed_shader(patch_embedding_half SOURCE patch_embedding.comp DEFINES HEED_HALF)
# Weights in int8, by rows that quantise_rows wrote: as floats, and by dot products of four bytes.
heed_shader(quantise_rows)
heed_shader(quantise_rows_subgroup SOURCE quantise_rows.comp DEFINES HEED_SUBGROUP)
heed_shader(linear_int8 SOURCE linear.comp DEFINES HEED_INT8)
heed_shader(linear_int8_subgroup SOURCE linear.comp DEFINES HEED_INT8 HEED_SUBGROUP)
heed_shader(linear_int8_dot SOURCE linear.comp DEFINES HEED_INT8 HEED_DOT)
heed_shader(linear_int8_texel SOURCE linear.comp DEFINES HEED_INT8 HEED_TEXEL)
# The same by cooperative matrices.
heed_shader(linear_matrix SOURCE linear.comp DEFINES HEED_HALF HEED_MATRIX NEEDS HEED_SHADERS_COOPERATIVE)
heed_shader(linear_int8_matrix SOURCE linear.comp DEFINES HEED_INT8 HEED_MATRIX NEEDS HEED_SHADERS_COOPERATIVE)
heed_shader(linear_matrix2 SOURCE linear.comp DEFINES HEED_HALF HEED_MATRIX2 NEEDS HEED_SHADERS_COOPERATIVE2 ENV vulkan1.3)
heed_shader(patch_embedding_matrix SOURCE patch_embedding.comp DEFINES HEED_HALF HEED_MATRIX NEEDS HEED_SHADERS_COOPERATIVE)
# The same with inputs fetched as texels.
heed_shader(layer_norm_texel SOURCE layer_norm.comp DEFINES HEED_TEXEL)
heed_shader(linear_texel SOURCE linear.comp DEFINES HEED_TEXEL)
heed_shader(patch_embedding_texel SOURCE patch_embedding.comp DEFINES HEED_TEXEL)
heed_shader(attention_scores_texel SOURCE attention_scores.comp DEFINES HEED_TEXEL)
heed_shader(attention_norm_texel SOURCE attention_norm.comp DEFINES HEED_TEXEL)
heed_shader(attention_values_texel SOURCE attention_values.comp DEFINES HEED_TEXEL)
# What a device does at best.
heed_shader(ceiling_multiply)
heed_shader(ceiling_multiply_half SOURCE ceiling_multiply.comp DEFINES HEED_F16)
heed_shader(ceiling_multiply_matrix NEEDS HEED_SHADERS_COOPERATIVE)
heed_shader(ceiling_copy)
heed_shader(ceiling_copy_texel SOURCE ceiling_copy.comp DEFINES HEED_TEXEL)
# Row sums by subgroup shuffles.
foreach(name layer_norm layer_norm_gradient softmax softmax_gradient attention_norm attention)
  heed_shader(${name}_subgroup SOURCE ${name}.comp DEFINES HEED_SUBGROUP)
endforeach()
heed_shader(attention_weights_subgroup SOURCE attention.comp DEFINES HEED_WEIGHTS HEED_SUBGROUP)
# What a norm and a softmax pass back of a gradient.
heed_shader(layer_norm_gradient)
heed_shader(softmax_gradient)
# What joins the parts of work that was split for want of workgroups.
heed_shader(linear_sum)
heed_shader(attention_join)
