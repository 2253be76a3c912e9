/* The CPU backend: which levels were built, which of them this machine can run, and the vtable. */
#include "cpu/cpu_backend.h"

#include <stdio.h>
#include <string.h>
#if defined(HEED_CPU_HAS_AVX2VNNI)
#include <cpuid.h>
#endif
#if defined(HEED_CPU_HAS_NEONDOT) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "cpu/int8.h"

/* The build defines HEED_CPU_HAS_<LEVEL> for each level that it compiled. Best first. */
#if defined(HEED_CPU_HAS_AVX512)
extern const heed_cpu_level_table heed_cpu_level_avx512;
static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("fma");
}
#endif
#if defined(HEED_CPU_HAS_AVX512VNNI)
extern const heed_cpu_level_table heed_cpu_level_bytes_avx512;
static bool has_avx512vnni(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
#endif
#if defined(HEED_CPU_HAS_AVX512BF16)
extern const heed_cpu_level_table heed_cpu_level_bf16_avx512;
#define HAS_AVX512BF16 (has_avx512vnni() && __builtin_cpu_supports("avx512bf16"))
#endif
#if defined(HEED_CPU_HAS_AVX2)
extern const heed_cpu_level_table heed_cpu_level_avx2;
static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif
#if defined(HEED_CPU_HAS_AVX2VNNI)
extern const heed_cpu_level_table heed_cpu_level_bytes_avx2;
/* By cpuid: Clang 14 knows no name for it. AVX2 says that the system keeps the registers. */
static bool has_avx2vnni(void) {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}
#endif
#if defined(HEED_CPU_HAS_SSE2)
extern const heed_cpu_level_table heed_cpu_level_sse2;
#endif
#if defined(HEED_CPU_HAS_NEON)
extern const heed_cpu_level_table heed_cpu_level_neon;
#endif
#if defined(HEED_CPU_HAS_NEONDOT)
extern const heed_cpu_level_table heed_cpu_level_bytes_neon;
/* What the compiler may use everywhere is there; macOS on arm64 always has it. */
static bool has_neondot(void) {
#if defined(__ARM_FEATURE_DOTPROD)
  return true;
#elif defined(__linux__)
  return getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP */
#else
  return false;
#endif
}
#endif
#if defined(HEED_CPU_HAS_RELAXED)
extern const heed_cpu_level_table heed_cpu_level_relaxed;
extern const heed_cpu_level_table heed_cpu_level_bytes_relaxed, heed_cpu_level_signed_relaxed;
static bool has_unsigned_dot(void) { return heed_cpu_int8_probe() == HEED_INT8_DOT_UNSIGNED; }
static bool has_signed_dot(void) { return heed_cpu_int8_probe() == HEED_INT8_DOT_SIGNED; }
#endif
#if defined(HEED_CPU_HAS_WASM128)
extern const heed_cpu_level_table heed_cpu_level_wasm128;
#endif
#if defined(HEED_CPU_HAS_SCALAR)
extern const heed_cpu_level_table heed_cpu_level_scalar;
#endif

static bool always(void) { return true; }

static const struct {
  const heed_cpu_level_table *table;
  bool (*usable)(void);
} levels[] = {
#if defined(HEED_CPU_HAS_AVX512VNNI)
    {&heed_cpu_level_bytes_avx512, has_avx512vnni},
#endif
#if defined(HEED_CPU_HAS_AVX512)
    {&heed_cpu_level_avx512, has_avx512},
#endif
#if defined(HEED_CPU_HAS_AVX2VNNI)
    {&heed_cpu_level_bytes_avx2, has_avx2vnni},
#endif
#if defined(HEED_CPU_HAS_AVX2)
    {&heed_cpu_level_avx2, has_avx2},
#endif
#if defined(HEED_CPU_HAS_SSE2)
    {&heed_cpu_level_sse2, always},
#endif
#if defined(HEED_CPU_HAS_NEONDOT)
    {&heed_cpu_level_bytes_neon, has_neondot},
#endif
#if defined(HEED_CPU_HAS_NEON)
    {&heed_cpu_level_neon, always},
#endif
#if defined(HEED_CPU_HAS_RELAXED)
    {&heed_cpu_level_bytes_relaxed, has_unsigned_dot},
    {&heed_cpu_level_signed_relaxed, has_signed_dot},
    {&heed_cpu_level_relaxed, always},
#endif
#if defined(HEED_CPU_HAS_WASM128)
    {&heed_cpu_level_wasm128, always},
#endif
#if defined(HEED_CPU_HAS_SCALAR)
    {&heed_cpu_level_scalar, always},
#endif
};

static const heed_cpu_level_table *usable_level(uint32_t index) {
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (levels[i].usable() && index-- == 0) return levels[i].table;
  return NULL;
}

const char *heed_cpu_level(uint32_t index) {
  const heed_cpu_level_table *table = usable_level(index);
  return table ? table->name : NULL;
}

static heed_status find_level(const char *name, const heed_cpu_level_table **found,
                              heed_error *error) {
  char all[96] = "";
#if defined(HEED_CPU_HAS_AVX512BF16)
  /* It rounds factors, so it is no level that anything else would choose. */
  *found = &heed_cpu_level_bf16_avx512;
  if (name && strcmp(name, (*found)->name) == 0 && HAS_AVX512BF16) return HEED_OK;
#endif
  for (uint32_t i = 0; (*found = usable_level(i)) != NULL; i++) {
    if (!name || strcmp(name, (*found)->name) == 0) return HEED_OK;
    const size_t length = strlen(all);
    snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", (*found)->name);
  }
  return heed_fail(error, HEED_UNSUPPORTED,
                   "cpu backend: level not available (found \"%s\", expected one of %s)", name,
                   all);
}

static heed_status supports(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                            heed_error *error) {
  const heed_cpu_backend *cpu = (const heed_cpu_backend *)backend;
  (void)plan;
  if (cpu->level->ops[node->op]) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED, "cpu backend: no kernel for %s",
                   heed_ops[node->op]->name);
}

static heed_attention_mode mode(const heed_backend *backend, const heed_plan *plan,
                                const heed_node *node) {
  return ((const heed_cpu_backend *)backend)->level->ops[node->op]->mode(plan, node);
}

static void destroy(heed_backend *backend) {
  heed_cpu_backend *cpu = (heed_cpu_backend *)backend;
  heed_thread_pool_destroy(cpu->pool);
  heed_free(backend->context, cpu);
}

static const heed_backend_vtable vtable = {
    .name = "cpu",
    .plan = {.supports = supports, .measure = heed_cpu_measure, .mode = mode},
    .program_create = heed_cpu_program_create,
    .program_destroy = heed_cpu_program_destroy,
    .write = heed_cpu_write,
    .read = heed_cpu_read,
    .run = heed_cpu_run,
    .run_part = heed_cpu_run_part,
    .view = heed_cpu_view,
    .profile = heed_cpu_profile,
    .destroy = destroy,
};

heed_status heed_cpu_backend_create(heed_context *context, const heed_cpu_desc *desc,
                                    heed_backend **backend, heed_error *error) {
  heed_cpu_desc full = HEED_CPU_DESC_INIT;
  if (!context || !backend)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "cpu backend: NULL argument (expected context and backend)");
  *backend = NULL;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "cpu backend", error));
  desc = &full;
  const heed_cpu_level_table *level;
  HEED_TRY(find_level(desc->level, &level, error));
  heed_cpu_backend *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "cpu backend", sizeof *made);
  made->base.vtable = &vtable;
  made->base.context = context;
  made->level = level;
  const heed_status status = heed_thread_pool_create(context, desc->threads, &made->pool, error);
  if (status != HEED_OK) {
    heed_free(context, made);
    return status;
  }
  const uint32_t threads = heed_thread_pool_count(made->pool);
  if (threads > 1) heed_backend_bind(&made->base);
  const char *limit = heed_thread_pool_limit(made->pool);
  snprintf(made->base.device, sizeof made->base.device, "%s, %u thread%s%s%s", level->label,
           threads, threads == 1 ? "" : "s", *limit ? "; " : "", limit);
  *backend = &made->base;
  return HEED_OK;
}
