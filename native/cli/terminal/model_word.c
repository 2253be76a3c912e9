/* The model among words. See model_word.h. */
#include "model_word.h"

#include "files/names.h"
#include "files/os.h"
#include "heed/native.h"

static heed_status count_file(void *user, const char *path, heed_error *error) {
  uint32_t *count = user;
  (void)path;
  (void)error;
  ++*count;
  return HEED_OK;
}

/* Config files or weights make a folder a model's, and so do several weights, which are refused. */
bool cli_is_other_folder(const char *path) {
  uint32_t count = 0;
  return heed_is_directory(path) &&
         heed_model_files_each(path, count_file, &count, NULL) == HEED_OK && count == 0;
}

/* The sentence is that of who decodes pictures: it says what the file is. */
static heed_status check_picture(cli_state *cli, const char *path,
                                 const heed_image_limits *limits) {
  heed_picture picture;
  heed_os_info info;
  if (heed_os_look(path, &info) && info.kind != HEED_OS_REGULAR)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: a pipe or a device before other images (expected MODEL or an image)",
                     path);
  CLI_TRY(heed_image_load_within(cli->context, path, limits, &picture, &cli->error));
  heed_picture_free(cli->context, &picture);
  return HEED_OK;
}

static heed_status check_later(cli_state *cli, const char *word, const char *first,
                               const heed_image_limits *limits) {
  if (!heed_is_directory(word))
    return heed_is_model_path(word) ? check_picture(cli, word, limits) : HEED_OK;
  if (cli_is_other_folder(word)) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_FILE,
                   "%s: a model after an image (found %s before it, expected heed %s MODEL IMAGE)",
                   word, first, cli->verb);
}

heed_status cli_take_model(cli_state *cli, const cli_words *words, bool more,
                           const heed_image_limits *limits, bool *has_model) {
  *has_model = words->count > 0 && heed_is_model_path(words->word[0]);
  if (*has_model || words->count == 0) return HEED_OK;
  if ((words->count > 1 || more) && !heed_is_picture_path(words->word[0]))
    CLI_TRY(check_picture(cli, words->word[0], limits));
  for (uint32_t i = 1; i < words->count; i++)
    CLI_TRY(check_later(cli, words->word[i], words->word[0], limits));
  return HEED_OK;
}
