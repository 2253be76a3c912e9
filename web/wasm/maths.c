/* exp, log, pow, sin, cos and tanh of doubles, from the engine's Math: libc's carry 15 KiB of
 * tables and code. Of kernels only elementwise and reduce use some. Engines agree with libc within
 * an ulp of a double, and what heed makes of them is rounded to F32. */
#include <math.h>

#define FROM_ENGINE(name) __attribute__((import_module("Math"), import_name(#name)))

FROM_ENGINE(exp) double heed_engine_exp(double x);
FROM_ENGINE(log) double heed_engine_log(double x);
FROM_ENGINE(sin) double heed_engine_sin(double x);
FROM_ENGINE(cos) double heed_engine_cos(double x);
FROM_ENGINE(tanh) double heed_engine_tanh(double x);
FROM_ENGINE(pow) double heed_engine_pow(double x, double y);

/* In the place of libc's. */
double exp(double x) { return heed_engine_exp(x); }
double log(double x) { return heed_engine_log(x); }
double sin(double x) { return heed_engine_sin(x); }
double cos(double x) { return heed_engine_cos(x); }
double tanh(double x) { return heed_engine_tanh(x); }
double pow(double x, double y) { return heed_engine_pow(x, y); }
