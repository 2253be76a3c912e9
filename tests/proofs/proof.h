/* What a proof says to CBMC: any values, what may be assumed of them, what must follow. */
#ifndef HEED_PROOFS_PROOF_H
#define HEED_PROOFS_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heed/base.h"

/* Any value of their type: CBMC takes functions of this name so. */
unsigned char nondet_byte(void);
uint64_t nondet_u64(void);
uint32_t nondet_u32(void);
bool nondet_bool(void);

void fill_with_anything(void *bytes, size_t count);

#define assume(condition) __CPROVER_assume(condition)
#define claim(condition, sentence) __CPROVER_assert(condition, sentence)
/* At the end of a proof, where all went well: prove.sh asks that it can be reached, so that no
 * proof holds because nothing can happen. */
#ifdef PROOF_REACHES_ITS_END
#define ends() claim(false, "the end is reached")
#else
#define ends() ((void)0)
#endif

#endif
