/* Reads one pickle into a heap: the opcodes of protocols 2 to 5 without those that nobody writes in
 * binary (Lib/pickletools.py of Python has their definitions). Executes nothing. */
#ifndef HEED_PICKLE_MACHINE_H
#define HEED_PICKLE_MACHINE_H

#include "pickle/byte_reader.h"
#include "pickle/heap.h"

/* *result is what the pickle stands for. The reader stands behind its last byte then. Statuses:
 * INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY, those of the source. */
heed_status heed_pickle_run(heed_pickle_heap *heap, heed_byte_reader *reader,
                            heed_pickle_id *result, heed_error *error);

#endif
