/* Pictures that are read ahead: threads decode and fit them while the model runs, and they come out
 * in the order of the list. */
#ifndef HEED_CLI_EMBED_READING_H
#define HEED_CLI_EMBED_READING_H

#include "session/pipeline.h"

/* Reads a picture, with a state of the thread's own for its sentence. Several threads call it. */
typedef heed_status (*embed_read)(cli_state *cli, void *user, uint32_t picture,
                                  cli_prepared *prepared);

typedef struct embed_reading embed_reading;
/* Starts to read pictures 0 .. count - 1, `ahead` of them at most, with so many threads; 0, or none
 * to be had: each is read when it is taken. Borrows cli and user. Statuses: OUT_OF_MEMORY. */
heed_status embed_reading_begin(cli_state *cli, embed_read read, void *user, uint32_t count,
                                uint32_t ahead, uint32_t threads, embed_reading **reading);
/* The next picture, as embed_read gave it, and its status; a sentence is in the state of begin. */
heed_status embed_reading_take(embed_reading *reading, cli_prepared *prepared);
/* Waits for the threads and frees what nobody took; NULL: nothing. */
void embed_reading_end(embed_reading *reading);

#endif
