/* Which of a verb's words is its model. */
#ifndef HEED_CLI_TERMINAL_MODEL_WORD_H
#define HEED_CLI_TERMINAL_MODEL_WORD_H

#include "cli.h"
#include "heed/native.h"
#include "options.h"

/* Whether the first of [MODEL] [IMAGE|FOLDER...] is a model. Where it is none the built-in model
 * answers, and so it never answers for words that may have meant another: then none of them may be
 * a model, and the first is a picture, unless it stands alone. more: pictures come from elsewhere
 * too. Statuses: those of heed_image_load; INVALID_FILE. */
heed_status cli_take_model(cli_state *cli, const cli_words *words, bool more,
                           const heed_image_limits *limits, bool *has_model);

/* Whether a path is a folder with nothing of a model in it, such as one of pictures. */
bool cli_is_other_folder(const char *path);

#endif
