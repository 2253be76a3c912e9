/* The embeddings of a stored survey as NumPy files. */
#ifndef HEED_CLI_SURVEY_EMBEDDINGS_H
#define HEED_CLI_SURVEY_EMBEDDINGS_H

#include "store.h"

#define SURVEY_SHARD_ROWS 65536

/* Writes embeddings-00000.npy F32 [rows, numbers] and ids-00000.npy I32 [rows], their pictures, and
 * so on, into a folder, which is made where it is missing. `shape` is of the store. Prints a line.
 * Statuses: INVALID_ARGUMENT (no embeddings are stored), IO, OUT_OF_MEMORY. */
heed_status survey_write_embeddings(cli_state *cli, const survey_store *store,
                                    const survey_shape *shape, const char *folder);

#endif
