/* heed run --explain LIST, with --json and --explained FILE. */
#ifndef HEED_CLI_RUN_EXPLAINED_H
#define HEED_CLI_RUN_EXPLAINED_H

#include "explained_figure.h"
#include "parts.h"

struct json_out;

/* Whether the list names methods, each once, and something is to be written. Statuses:
 * INVALID_ARGUMENT. */
heed_status run_check_explained(cli_state *cli, const run_options *options);
/* How many methods the list names, and the n-th of them. */
uint32_t run_explained_count(const run_options *options);
const char *run_explained_name(const run_options *options, uint32_t n);
/* Makes result->explained from the session that has run; nothing without --explain. Statuses:
 * UNSUPPORTED, INVALID_ARGUMENT, OUT_OF_MEMORY. */
heed_status run_explain(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                        const run_selection *selection, run_result *result);
/* "explain": an object with one for each method. */
void run_json_explained(struct json_out *json, const run_options *options,
                        const run_explained *explained);
/* The n-th method's figure. Free rgb. Statuses: OUT_OF_MEMORY. */
heed_status run_explained_draw(cli_state *cli, const run_options *options,
                               const run_explained *explained, uint32_t n, const char *query,
                               run_explained_figure *to);
/* Draws that figure. */
heed_status run_draw_explained(cli_state *cli, const cli_pipeline *pipeline,
                               const run_options *options, const run_result *result,
                               const run_selection *selection, uint32_t n, const char *path);
void run_explained_free(run_explained *explained);

#endif
