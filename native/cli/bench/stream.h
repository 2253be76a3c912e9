/* heed bench --in-flight: runs as a stream, each with its inputs copied in and its outputs copied
 * out. */
#ifndef HEED_CLI_BENCH_STREAM_H
#define HEED_CLI_BENCH_STREAM_H

#include "terminal/cli.h"

/* The wall time of a run, in milliseconds, of `runs` in a stream with so many in flight. */
heed_status cli_stream_time(cli_state *cli, heed_session *session, uint32_t runs,
                            uint32_t in_flight, double *milliseconds);

#endif
