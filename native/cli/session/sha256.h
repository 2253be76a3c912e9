/* SHA-256 (FIPS 180-4), to name the file that another was made of. */
#ifndef HEED_CLI_SESSION_SHA256_H
#define HEED_CLI_SESSION_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
  uint32_t state[8];
  unsigned char block[64];
  uint64_t bytes;
} sha256;

#define SHA256_TEXT_SIZE 65

void sha256_begin(sha256 *hash);
void sha256_add(sha256 *hash, const void *bytes, size_t count);
/* 64 hexadecimal digits; the hash is used up. */
void sha256_end(sha256 *hash, char text[SHA256_TEXT_SIZE]);

#endif
