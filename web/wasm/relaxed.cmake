# The kernels of relaxed SIMD: by a clang of its own, since emcc 3.1.6 knows none, against emcc's headers. Sets HEED_RELAXED, whether it is there, and
# relaxed_kernels; where it is missing, the package goes without and this says so.
find_program(HEED_CLANG NAMES clang-19 clang-20 clang-21 clang-18 clang-17 DOC "A clang with relaxed SIMD for wasm32")
set(relaxed_kernels "")
set(HEED_RELAXED OFF)
if(NOT HEED_CLANG OR HEED_WASM_LD STREQUAL "${llvm}/wasm-ld" OR HEED_WASM_LD MATCHES "-1[56]$")
  message(STATUS "No modules with relaxed SIMD: no clang and wasm-ld of LLVM 17 or newer (Debian: clang-19 lld-19)")
  return()
endif()
set(HEED_RELAXED ON)
message(STATUS "Modules with relaxed SIMD: by ${HEED_CLANG}")
# Features by name: those of the objects around them, and relaxed SIMD.
set(flags --target=wasm32-unknown-emscripten --sysroot=${sysroot} -mcpu=mvp -mmutable-globals -msign-ext -msimd128 -mrelaxed-simd
          -DHEED_SIMD_RELAXED -DNDEBUG -I${PROJECT_SOURCE_DIR}/runtime -I${PROJECT_SOURCE_DIR}/runtime/include -std=c11 -fvisibility=hidden
          -ffp-contract=off)
get_property(fast GLOBAL PROPERTY HEED_CPU_FAST_KERNELS)
list(APPEND fast weights/int8_relaxed.c)
list(TRANSFORM fast REPLACE ".*/" "") # by name
get_property(fast_flags GLOBAL PROPERTY HEED_CPU_FAST_FLAGS)

# relaxed_kernel(SOURCE FOLDER [DEFINITION...]): one more of relaxed_kernels.
function(relaxed_kernel source folder)
  get_filename_component(kernel ${source} NAME)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${folder}/${kernel}.o)
  set(optimise -Oz -fno-inline-functions)
  if(kernel IN_LIST fast)
    # In the order in which they are written, tiles fit the registers.
    set(optimise ${fast_flags} -mllvm -pre-RA-sched=source -mllvm -funcspec-max-clones=0)
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${HEED_CLANG} ${flags} ${optimise} ${ARGN} -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "Building ${folder} ${kernel}" VERBATIM)
  set(relaxed_kernels ${relaxed_kernels} ${object} PARENT_SCOPE)
endfunction()

get_target_property(kernels heed_cpu_wasm128 SOURCES)
foreach(kernel IN LISTS kernels)
  relaxed_kernel(${cpu}/${kernel} relaxed)
endforeach()
# The level's other products of int8 are dot products of bytes, of which the engine's kind is found by value.
foreach(kernel level_dot.c level_signed.c weights/int8_relaxed.c)
  relaxed_kernel(${cpu}/${kernel} relaxed)
endforeach()

# tests/bench/bench_ops.wasm with these kernels: what the speed of the modules is measured by.
if(TARGET bench_ops)
  get_target_property(sources bench_ops SOURCES)
  list(TRANSFORM sources REPLACE "^bench_ops.c$" "${PROJECT_SOURCE_DIR}/tests/bench/bench_ops.c")
  add_library(bench_ops_relaxed OBJECT EXCLUDE_FROM_ALL ${sources})
  target_compile_definitions(bench_ops_relaxed PRIVATE HEED_CPU_HAS_RELAXED)
  heed_level_list(bench_ops_relaxed ${levels_RELAXED})
  target_include_directories(bench_ops_relaxed PRIVATE ${PROJECT_SOURCE_DIR}/runtime)
  target_link_libraries(bench_ops_relaxed PRIVATE heed heed_flags)
  set(relaxed_before ${relaxed_kernels})
  relaxed_kernel(${PROJECT_SOURCE_DIR}/tests/bench/ceiling.c relaxed)
  set(program ${PROJECT_BINARY_DIR}/tests/bench_ops_relaxed.wasm)
  heed_link(${program} PROGRAM OBJECTS $<TARGET_OBJECTS:bench_ops_relaxed> ${relaxed_kernels} LIBRARIES heed heed_cpu)
  set(relaxed_kernels ${relaxed_before})
  add_custom_target(bench_ops_relaxed-program DEPENDS ${program})
  add_dependencies(bench_ops bench_ops_relaxed-program)
endif()
