// What the modules with cooperative matrices (HEED_MATRIX) ask of GLSL; stands before everything
// else. Their products are of fp16 factors, summed in fp32, or of int8, summed in int32, in shapes
// M x N x K that the device names and specialisation constants carry.
#ifndef HEED_MATRIX_GLSL
#define HEED_MATRIX_GLSL

#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#pragma use_vulkan_memory_model

#ifdef HEED_INT8
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#define HEED_SUM(M, N) coopmat<int, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>
#define HEED_FACTOR_A(M, K) coopmat<int8_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
#define HEED_FACTOR_B(K, N) coopmat<int8_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB>
#else
#define HEED_SUM(M, N) coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>
#define HEED_FACTOR_A(M, K) coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
#define HEED_FACTOR_B(K, N) coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB>
#endif

// What lanes of a subgroup wrote to shared memory is there for all of it.
#define HEED_SUBGROUP_MEETS()                                                   \
  controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, \
                 gl_SemanticsAcquireRelease)

#endif
