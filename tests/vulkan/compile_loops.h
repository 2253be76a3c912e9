/* What stands in the loops of a kernel's machine code. */
#ifndef HEED_TESTS_VULKAN_COMPILE_LOOPS_H
#define HEED_TESTS_VULKAN_COMPILE_LOOPS_H

#include <stdio.h>

/* Members of a JSON object, each after a comma. text: disassembly as RADV writes it; numbers are
 * null without it, and for code of other drivers. Changes text. */
void compile_write_loops(FILE *out, char *text);

#endif
