/* What was given in the place of a model: named, with how to go on. */
#ifndef HEED_CLI_GIVEN_H
#define HEED_CLI_GIVEN_H

#include "cli/cli.h"

/* Whether a name ends as weights of other makers do: .pt, .onnx, .gguf ... */
bool cli_is_foreign_name(const char *name);
/* Whether a name ends as a picture's does, of whatever kind. */
bool cli_is_picture_name(const char *name);

/* Refuse, each with its sentence. `path` is what there is not; `name` is a file of a name that cli_is_foreign_name takes; and where the
 * first bytes are those of a kind of file that is not read (else OK). Statuses: IO; UNSUPPORTED; UNSUPPORTED, INVALID_FILE. */
heed_status cli_refuse_missing_model(cli_state *cli, const char *path);
heed_status cli_refuse_foreign_name(cli_state *cli, const char *name);
heed_status cli_refuse_kind(cli_state *cli, const char *path, const void *bytes, size_t size, const char *expected);

#endif
