# The toolchain of the emcc on PATH, wherever its installation lies; the processor is named so that the CPU kernels know their levels.
find_program(HEED_EMCC emcc REQUIRED)
get_filename_component(emcc ${HEED_EMCC} REALPATH)
get_filename_component(folder ${emcc} DIRECTORY)
set(EMSCRIPTEN_SYSTEM_PROCESSOR wasm32)
include(${folder}/cmake/Modules/Platform/Emscripten.cmake)
