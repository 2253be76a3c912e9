/* Pictures that are read ahead: threads decode and fit them while the model runs, and they come out
 * in the order of the list. */
#ifndef HEED_CLI_SESSION_READING_H
#define HEED_CLI_SESSION_READING_H

#include "pipeline.h"

/* Reads a picture, with a state of the thread's own for its sentence. Several threads call it. */
typedef heed_status (*cli_read_picture)(cli_state *cli, void *user, uint32_t picture,
                                        cli_prepared *prepared);

typedef struct cli_reading cli_reading;
/* Starts to read pictures 0 .. count - 1, `ahead` of them at most, with so many threads; 0, or none
 * to be had: each is read when it is taken. Borrows cli and user. Statuses: OUT_OF_MEMORY. */
heed_status cli_reading_begin(cli_state *cli, cli_read_picture read, void *user, uint32_t count,
                              uint32_t ahead, uint32_t threads, cli_reading **reading);
/* The next picture, as cli_read_picture gave it, and its status; a sentence is in the state of
 * begin. */
heed_status cli_reading_take(cli_reading *reading, cli_prepared *prepared);
/* Waits for the threads and frees what nobody took; NULL: nothing. */
void cli_reading_end(cli_reading *reading);

#endif
