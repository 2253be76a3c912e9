# The toolchain of the emcc on PATH, wherever its installation lies; the processor is named so that the CPU kernels know their levels.
find_program(HEED_EMCC emcc REQUIRED)
get_filename_component(emcc ${HEED_EMCC} REALPATH)
get_filename_component(folder ${emcc} DIRECTORY)
set(EMSCRIPTEN_SYSTEM_PROCESSOR wasm32)
include(${folder}/cmake/Modules/Platform/Emscripten.cmake)

# Objects come from emcc's own clang by the flags that emcc passes it: a start of emcc's Python takes longer than most compilations.
execute_process(COMMAND ${HEED_EMCC} -Oz --cflags OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(tools ${HEED_EMCC} DIRECTORY)
execute_process(COMMAND ${tools}/em-config LLVM_ROOT OUTPUT_VARIABLE llvm OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_C_COMPILE_OBJECT "${llvm}/clang ${flags} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
