/* Softmax attention forward and backward for the trainer: PyTorch without MKL multiplies batches of
 * small matrices by plain loops.
 *
 * qkv[batch][tokens][3][heads][32], out[batch][tokens][heads][32],
 * weights[batch][heads][tokens][tokens], all contiguous floats. Needs GCC or Clang vectors; not
 * part of the library. */
#include <stdlib.h>
#include <string.h>

#define DIM 32
#define LANES 16
typedef float lanes __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static lanes load(const float *from) { return *(const lanes *)from; }

static void store(float *to, lanes v) { *(lanes *)to = v; }

/* c[m][n] = sum over k of a(i, k) b[k][n]; b and c have rows of n, a multiple of 16; a(i, k) = a[i
 * * row + k * column]. */
static void multiply(size_t m, size_t n, size_t k, const float *a, size_t row, size_t column,
                     const float *b, size_t b_row, float *c, size_t c_row) {
  for (size_t j = 0; j < n; j += 2 * LANES) {
    const int two = j + LANES < n;
    size_t i = 0;
    for (; two && i + 8 <= m; i += 8) {
      lanes x[8] = {{0}}, y[8] = {{0}};
      for (size_t p = 0; p < k; p++) {
        const lanes u = load(b + p * b_row + j), v = load(b + p * b_row + j + LANES);
        for (size_t r = 0; r < 8; r++) {
          const float s = a[(i + r) * row + p * column];
          x[r] += s * u;
          y[r] += s * v;
        }
      }
      for (size_t r = 0; r < 8; r++) {
        store(c + (i + r) * c_row + j, x[r]);
        store(c + (i + r) * c_row + j + LANES, y[r]);
      }
    }
    for (; i < m; i++)
      for (size_t part = j; part < n && part < j + 2 * LANES; part += LANES) {
        lanes x = {0};
        for (size_t p = 0; p < k; p++) x += a[i * row + p * column] * load(b + p * b_row + part);
        store(c + i * c_row + part, x);
      }
  }
}

typedef int whole_lanes __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

/* exp of what is at most 0, relative error below 1e-6: 2^n times a polynomial in the rest. */
static lanes exponential(lanes x) {
  const lanes t = x * 1.44269504f;
  const whole_lanes n = __builtin_convertvector(t - 0.5f, whole_lanes);
  const lanes f = t - __builtin_convertvector(n, lanes);
  const lanes p =
      1.0f +
      f * (0.69314718f +
           f * (0.24022651f +
                f * (0.05550411f + f * (0.00961813f + f * (0.00133336f + f * 0.000154035f)))));
  const whole_lanes low = n < -126; /* all ones there: the result is 0 */
  const whole_lanes two = ((n + 127) << 23) & ~low;
  return p * (lanes)two;
}

/* row[tokens] becomes its softmax; row holds a multiple of 16 values, the last ones of no
 * meaning. */
static void softmax(float *row, size_t tokens, size_t padded) {
  lanes most = load(row), sum = {0};
  for (size_t t = tokens; t < padded; t++) row[t] = row[0] - 1e4f;
  for (size_t t = LANES; t < padded; t += LANES) {
    const lanes v = load(row + t);
    const whole_lanes more = v > most;
    most = (lanes)(((whole_lanes)v & more) | ((whole_lanes)most & ~more));
  }
  float top = most[0], total = 0.0f;
  for (size_t i = 1; i < LANES; i++) top = most[i] > top ? most[i] : top;
  for (size_t t = 0; t < padded; t += LANES) {
    const lanes v = exponential(load(row + t) - top);
    sum += v;
    store(row + t, v);
  }
  for (size_t i = 0; i < LANES; i++) total += sum[i];
  const float scale = 1.0f / total;
  for (size_t t = 0; t < padded; t += LANES) store(row + t, load(row + t) * scale);
}

static void gather(const float *from, size_t tokens, size_t stride, float scale, float *rows,
                   float *columns, size_t padded) {
  for (size_t t = 0; t < tokens; t++)
    for (size_t d = 0; d < DIM; d++) {
      const float v = from[t * stride + d] * scale;
      if (rows) rows[t * DIM + d] = v;
      if (columns) columns[d * padded + t] = v;
    }
}

__attribute__((visibility("default"))) void attention_forward(size_t batch, size_t tokens,
                                                              size_t heads, const float *qkv,
                                                              float *out, float *weights) {
  const size_t padded = (tokens + 15) / 16 * 16, stride = 3 * heads * DIM;
#pragma omp parallel for schedule(static)
  for (size_t bh = 0; bh < batch * heads; bh++) {
    const size_t b = bh / heads, h = bh % heads;
    const float *q = qkv + b * tokens * stride + h * DIM, *k = q + heads * DIM,
                *v = k + heads * DIM;
    float *space = aligned_alloc(64, (3 * DIM * padded + 16 * padded) * 4), *kt = space,
          *qs = kt + DIM * padded, *vs = qs + DIM * padded, *s = vs + DIM * padded;
    memset(kt, 0, DIM * padded * 4);
    gather(k, tokens, stride, 1.0f, NULL, kt, padded);
    gather(q, tokens, stride, 0.17677669529f, qs, NULL, padded);
    gather(v, tokens, stride, 1.0f, vs, NULL, padded);
    for (size_t i = 0; i < tokens; i += 16) {
      const size_t rows = tokens - i < 16 ? tokens - i : 16;
      multiply(rows, padded, DIM, qs + i * DIM, DIM, 1, kt, padded, s, padded);
      for (size_t r = 0; r < rows; r++) {
        softmax(s + r * padded, tokens, padded);
        memcpy(weights + (bh * tokens + i + r) * tokens, s + r * padded, tokens * 4);
      }
      multiply(rows, DIM, tokens, weights + (bh * tokens + i) * tokens, tokens, 1, vs, DIM,
               out + (b * tokens + i) * heads * DIM + h * DIM, heads * DIM);
    }
    free(space);
  }
}

/* d_weights (nullable) comes on top of what flows back through out. */
__attribute__((visibility("default"))) void attention_backward(
    size_t batch, size_t tokens, size_t heads, const float *qkv, const float *weights,
    const float *d_out, const float *d_weights, float *d_qkv) {
  const size_t padded = (tokens + 15) / 16 * 16, stride = 3 * heads * DIM, out_stride = heads * DIM;
#pragma omp parallel for schedule(static)
  for (size_t bh = 0; bh < batch * heads; bh++) {
    const size_t b = bh / heads, h = bh % heads, at = b * tokens * stride + h * DIM;
    const float *q = qkv + at, *k = q + heads * DIM, *v = k + heads * DIM,
                *w = weights + bh * tokens * tokens;
    float *space = aligned_alloc(64, (4 * DIM * padded + tokens * padded) * 4);
    float *vt = space, *ks = vt + DIM * padded, *qs = ks + DIM * padded, *go = qs + DIM * padded,
          *ds = go + DIM * padded;
    memset(vt, 0, DIM * padded * 4);
    gather(v, tokens, stride, 1.0f, NULL, vt, padded);
    gather(k, tokens, stride, 0.17677669529f, ks, NULL, padded);
    gather(q, tokens, stride, 0.17677669529f, qs, NULL, padded);
    gather(d_out + b * tokens * out_stride + h * DIM, tokens, out_stride, 1.0f, go, NULL, padded);
    multiply(tokens, padded, DIM, go, DIM, 1, vt, padded, ds, padded);
    for (size_t i = 0; i < tokens; i++) {
      const float *p = w + i * tokens,
                  *extra = d_weights ? d_weights + (bh * tokens + i) * tokens : NULL;
      float *row = ds + i * padded, sum = 0.0f;
      if (extra)
        for (size_t t = 0; t < tokens; t++) row[t] += extra[t];
      for (size_t t = 0; t < tokens; t++) sum += row[t] * p[t];
      for (size_t t = 0; t < tokens; t++) row[t] = (row[t] - sum) * p[t];
    }
    multiply(tokens, DIM, tokens, ds, padded, 1, ks, DIM, d_qkv + at, stride);
    multiply(tokens, DIM, tokens, ds, 1, padded, qs, DIM, d_qkv + at + heads * DIM, stride);
    multiply(tokens, DIM, tokens, w, 1, tokens, go, DIM, d_qkv + at + 2 * heads * DIM, stride);
    free(space);
  }
}
