/* See sha256.h. */
#include "sha256.h"

#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t terms[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void schedule(const unsigned char *block, uint32_t w[64]) {
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
           (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
  }
}

static void add_block(uint32_t state[8], const unsigned char *block) {
  uint32_t w[64], s[8];
  schedule(block, w);
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    const uint32_t one = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25),
                   choice = (s[4] & s[5]) ^ (~s[4] & s[6]),
                   first = s[7] + one + choice + terms[i] + w[i],
                   two = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22),
                   majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + two + majority;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

void sha256_begin(sha256 *hash) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(hash->state, start, sizeof start);
  hash->bytes = 0;
}

void sha256_add(sha256 *hash, const void *bytes, size_t count) {
  const unsigned char *from = bytes;
  while (count > 0) {
    const size_t at = hash->bytes % 64, room = 64 - at, part = count < room ? count : room;
    memcpy(hash->block + at, from, part);
    hash->bytes += part;
    from += part;
    count -= part;
    if (at + part == 64) add_block(hash->state, hash->block);
  }
}

void sha256_end(sha256 *hash, char text[SHA256_TEXT_SIZE]) {
  static const unsigned char padding[64] = {0x80};
  const uint64_t bits = hash->bytes * 8, at = hash->bytes % 64;
  unsigned char length[8];
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
  sha256_add(hash, padding, (size_t)(at < 56 ? 56 - at : 120 - at));
  sha256_add(hash, length, sizeof length);
  for (int i = 0; i < 8; i++) snprintf(text + 8 * i, 9, "%08x", hash->state[i]);
}
