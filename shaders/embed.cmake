# MODULE (SPIR-V) -> OUTPUT: a C array heed_spirv_<NAME> of its words and their number.
file(READ ${MODULE} hex HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1u," words "${hex}")
string(REGEX REPLACE "(0x[0-9a-f]+u,0x[0-9a-f]+u,0x[0-9a-f]+u,0x[0-9a-f]+u,0x[0-9a-f]+u,0x[0-9a-f]+u,0x[0-9a-f]+u,0x[0-9a-f]+u,)" "\\1\n" words "${words}")
file(WRITE ${OUTPUT}
  "#include <stddef.h>\n#include <stdint.h>\nextern const uint32_t heed_spirv_${NAME}[];\nextern const size_t heed_spirv_size_${NAME};\n"
  "const uint32_t heed_spirv_${NAME}[] = {\n${words}};\nconst size_t heed_spirv_size_${NAME} = sizeof heed_spirv_${NAME};\n")
