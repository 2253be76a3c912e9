/* What a processor of arm64 has, as Linux says. Built where the compiler may not use it
 * everywhere. */
#include <sys/auxv.h>

#include "cpu/machine.h"

bool heed_cpu_has_neondot(void) { return getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP */ }
