# Every SPIR-V module: heed_shader(NAME [SOURCE file.comp] [DEFINES ...]). Each op has one of its own name; further variants of a
# source stand here too. C names a module HEED_SHADER_<NAME>.
foreach(op IN LISTS HEED_OPS)
  heed_shader(${op})
endforeach()
heed_shader(attention_weights SOURCE attention.comp DEFINES HEED_WEIGHTS) # also stores weights and logits
