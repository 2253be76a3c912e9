# Modules with relaxed SIMD, whose multiply-add is fused: heed-relaxed.wasm, heed-relaxed-threads.wasm, and what runs cases on their kernels. Their kernels are compiled by a
# clang of its own, since emcc 3.1.6 knows no relaxed SIMD; against emcc's headers, with emcc's objects and libraries around them, linked as
# emcc links and optimised by npm's binaryen (package.json). Where a part is missing, the package goes without and this says so.
find_program(HEED_CLANG NAMES clang-19 clang-20 clang-21 clang-18 clang-17 DOC "A clang with relaxed SIMD for wasm32")
find_program(HEED_WASM_LD NAMES wasm-ld-19 wasm-ld-20 wasm-ld-21 wasm-ld-18 wasm-ld-17 DOC "The linker that comes with it")
set(relaxed_modules "")
set(relaxed_modules "" PARENT_SCOPE)
if(NOT HEED_CLANG OR NOT HEED_WASM_LD)
  message(STATUS "No modules with relaxed SIMD: no clang and wasm-ld of LLVM 17 or newer (Debian: clang-19 lld-19)")
  return()
elseif(NOT EXISTS ${wasm_opt})
  message(STATUS "No modules with relaxed SIMD: no binaryen (npm ci)")
  return()
endif()
get_filename_component(tools ${HEED_EMCC} DIRECTORY)
execute_process(COMMAND ${tools}/em-config CACHE OUTPUT_VARIABLE cache OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(sysroot ${cache}/sysroot)
set(libraries ${sysroot}/lib/wasm32-emscripten)
# The small form of the C library: all of it in older Emscripten, a part since then, under another name.
file(GLOB libc ${libraries}/libc[-_]optz.a)
if(NOT libc)
  message(STATUS "No modules with relaxed SIMD: this Emscripten has no libc-optz.a or libc_optz.a in ${libraries}")
  return()
endif()
message(STATUS "Modules with relaxed SIMD: by ${HEED_CLANG}")
# Features by name: those of the objects around them, and relaxed SIMD.
set(flags --target=wasm32-unknown-emscripten --sysroot=${sysroot} -mcpu=mvp -mmutable-globals -msign-ext -msimd128 -mrelaxed-simd
          -DHEED_SIMD_RELAXED -DNDEBUG -I${PROJECT_SOURCE_DIR}/runtime -I${PROJECT_SOURCE_DIR}/runtime/include -std=c11 -fvisibility=hidden
          -ffp-contract=off)
get_property(kernels GLOBAL PROPERTY HEED_CPU_KERNELS)
get_property(fast GLOBAL PROPERTY HEED_CPU_FAST_KERNELS)
get_property(fast_flags GLOBAL PROPERTY HEED_CPU_FAST_FLAGS)

# relaxed_kernel(KERNEL FOLDER DEFINITION...): sets `object`. With definitions it is one of the kernels of models.
function(relaxed_kernel kernel folder)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${folder}/${kernel}.o)
  set(optimise -Oz -fno-inline-functions)
  if(kernel IN_LIST fast)
    # In the order in which they are written, tiles fit the registers.
    set(optimise ${fast_flags} -mllvm -pre-RA-sched=source -mllvm -funcspec-max-clones=0)
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${HEED_CLANG} ${flags} ${optimise} ${ARGN} -MD -MT ${object} -MF ${object}.d -c ${cpu}/${kernel} -o ${object}
    DEPENDS ${cpu}/${kernel}
    DEPFILE ${object}.d
    COMMENT "Building ${folder} ${kernel}" VERBATIM)
  set(object ${object} PARENT_SCOPE)
endfunction()

# The kernels of every op; and those of the modules that open models and text towers, as heed_ops has them.
set(relaxed_objects "")
set(relaxed_model_objects "")
set(relaxed_text_objects "")
set(relaxed_graph_objects "")
foreach(kernel IN LISTS kernels)
  relaxed_kernel(${kernel} relaxed)
  set(whole ${object})
  list(APPEND relaxed_objects ${whole})
  foreach(kind model text graph)
    set(object ${whole})
    if(kernel IN_LIST ${kind}_kernels)
      set(defined ${${kind}_definitions})
      list(TRANSFORM defined PREPEND -D)
      relaxed_kernel(${kernel} relaxed_${kind} ${defined})
    endif()
    list(APPEND relaxed_${kind}_objects ${object})
  endforeach()
endforeach()

# The same with products of int8; the level's other products are dot products of bytes, of which the engine's kind is found by value.
set(relaxed_int8_objects "")
set(int8_defined ${int8_definitions})
list(TRANSFORM int8_defined PREPEND -D)
foreach(kernel IN LISTS kernels ITEMS int8_tile.c int8_product.c)
  relaxed_kernel(${kernel} relaxed_int8 ${int8_defined})
  list(APPEND relaxed_int8_objects ${object})
endforeach()
foreach(kernel IN ITEMS level.c int8_tile.c)
  relaxed_kernel(${kernel} relaxed_int8_dot ${int8_defined} -DHEED_INT8_DOT)
  list(APPEND relaxed_int8_objects ${object})
endforeach()
relaxed_kernel(level.c relaxed_int8_signed ${int8_defined} -DHEED_INT8_DOT -DHEED_INT8_SIGNED)
list(APPEND relaxed_int8_objects ${object})

# heed_relaxed_module(NAME LIKE [LIBRARY...]): the module LIKE with these kernels, the objects of its own that know the level, and libraries beside the core.
function(heed_relaxed_module name like)
  get_target_property(sources ${like} SOURCES)
  get_target_property(options ${like} COMPILE_OPTIONS)
  get_target_property(definitions ${like} COMPILE_DEFINITIONS)
  list(TRANSFORM definitions REPLACE "HEED_CPU_HAS_WASM128" "HEED_CPU_HAS_RELAXED")
  add_library(${name} OBJECT ${sources})
  target_compile_definitions(${name} PRIVATE ${definitions})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime)
  set(core heed)
  if("HEED_INT8" IN_LIST definitions)
    set(core heed_int8_core)
  endif()
  target_link_libraries(${name} PRIVATE ${core} heed_flags)
  set(features --enable-relaxed-simd)
  set(memory "")
  if(options)
    target_compile_options(${name} PRIVATE ${options})
    set(memory --shared-memory --import-memory --no-check-features)
    list(APPEND features --enable-threads --enable-bulk-memory)
  endif()
  set(kernels ${relaxed_objects})
  if("HEED_TEXT_ALONE" IN_LIST definitions)
    set(kernels ${relaxed_text_objects})
  elseif("${graph_definitions}" IN_LIST definitions)
    set(kernels ${relaxed_graph_objects})
  elseif(core STREQUAL heed_int8_core)
    set(kernels ${relaxed_int8_objects})
  elseif("HEED_OPS_AS_LINKED" IN_LIST definitions)
    set(kernels ${relaxed_model_objects})
  endif()
  set(beside "")
  foreach(library IN LISTS ARGN)
    target_link_libraries(${name} PRIVATE ${library})
    list(APPEND beside $<TARGET_FILE:${library}>)
  endforeach()
  set(module ${PROJECT_BINARY_DIR}/modules/${name}.wasm)
  heed_shrink(${name} passes)
  add_custom_command(
    OUTPUT ${module}
    COMMAND ${HEED_WASM_LD} -o ${module}.linked ${memory} $<TARGET_OBJECTS:${name}> ${kernels} ${beside} $<TARGET_FILE:${core}>
            -L${libraries} ${libraries}/crt1_reactor.o -lstandalonewasm-memgrow -lstubs -lnoexit ${libc} -lc -lemmalloc -lcompiler_rt --import-undefined
            --strip-debug -z stack-size=262144 --initial-memory=1048576 --max-memory=4294967296
            --entry=_initialize --global-base=1024
    COMMAND ${HEED_NODE} ${wasm_opt} ${module}.linked -o ${module} --post-emscripten ${passes} --strip-debug ${features}
    DEPENDS ${name} $<TARGET_OBJECTS:${name}> ${kernels} ${ARGN} ${core}
    COMMENT "Linking ${name}.wasm" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}-module ALL DEPENDS ${module})
  set(relaxed_modules ${relaxed_modules} ${module} PARENT_SCOPE)
endfunction()

heed_relaxed_module(heed-relaxed heed-web)
heed_relaxed_module(check-heed-relaxed check-heed heed_check)
heed_relaxed_module(heed-relaxed-threads heed-threads)
heed_relaxed_module(check-heed-relaxed-threads check-heed-threads heed_check)
heed_relaxed_module(heed-int8-relaxed heed-int8)
heed_relaxed_module(check-heed-int8-relaxed check-heed-int8)
heed_relaxed_module(heed-int8-relaxed-threads heed-int8-threads)
heed_relaxed_module(heed-graph-relaxed heed-graph)
heed_relaxed_module(heed-graph-relaxed-threads heed-graph-threads)
heed_relaxed_module(heed-text-relaxed heed-text)
heed_relaxed_module(heed-text-relaxed-threads heed-text-threads)
set(relaxed_modules ${relaxed_modules} PARENT_SCOPE)

# tests/bench/bench_ops.wasm with these kernels: what the speed of the modules is measured by.
if(TARGET bench_ops)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/relaxed/ceiling.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${HEED_CLANG} ${flags} ${fast_flags} -c ${PROJECT_SOURCE_DIR}/tests/bench/ceiling.c -o ${object}
    DEPENDS ${PROJECT_SOURCE_DIR}/tests/bench/ceiling.c ${PROJECT_SOURCE_DIR}/tests/bench/ceiling.h
    COMMENT "Building relaxed ceiling.c" VERBATIM)
  get_target_property(sources bench_ops SOURCES)
  list(TRANSFORM sources REPLACE "^bench_ops.c$" "${PROJECT_SOURCE_DIR}/tests/bench/bench_ops.c")
  add_library(bench_ops_relaxed OBJECT EXCLUDE_FROM_ALL ${sources})
  target_compile_definitions(bench_ops_relaxed PRIVATE HEED_CPU_HAS_RELAXED)
  target_include_directories(bench_ops_relaxed PRIVATE ${PROJECT_SOURCE_DIR}/runtime)
  target_link_libraries(bench_ops_relaxed PRIVATE heed heed_flags)
  set(program ${PROJECT_BINARY_DIR}/tests/bench_ops_relaxed.wasm)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${HEED_WASM_LD} -o ${program}.linked $<TARGET_OBJECTS:bench_ops_relaxed> ${relaxed_objects} ${object} $<TARGET_FILE:heed>
            -L${libraries} ${libraries}/crt1.o -lstandalonewasm-memgrow -lstubs -lc -ldlmalloc -lcompiler_rt --import-undefined --strip-debug
            -z stack-size=1048576 --initial-memory=16777216 --max-memory=4294967296 --global-base=1024
    COMMAND ${HEED_NODE} ${wasm_opt} ${program}.linked -o ${program} --post-emscripten ${shrink} --strip-debug --enable-relaxed-simd
    DEPENDS bench_ops_relaxed $<TARGET_OBJECTS:bench_ops_relaxed> ${relaxed_objects} ${object} heed
    COMMENT "Linking bench_ops_relaxed.wasm" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(bench_ops_relaxed-program DEPENDS ${program})
  add_dependencies(bench_ops bench_ops_relaxed-program)
endif()
