/* Maps of heed_patch_map. See patch_maps.h. */
#include "patch_maps.h"

#include <stdio.h>
#include <string.h>

bool cli_next_name(const char **list, const char **name, size_t *length) {
  if (!*list) return false;
  *name = *list;
  *length = strcspn(*list, ",");
  *list = (*list)[*length] ? *list + *length + 1 : NULL;
  return true;
}

bool cli_is_name(const char *name, const char *found, size_t length) {
  return strlen(name) == length && memcmp(name, found, length) == 0;
}

bool cli_patch_map_find(const char *found, size_t length, uint32_t *index) {
  const char *name;
  for (*index = 0; (name = heed_patch_map_name(*index)) != NULL; ++*index)
    if (cli_is_name(name, found, length)) return true;
  return false;
}

void cli_methods_add(char list[CLI_METHODS_SIZE], const char *method) {
  const char *at = list, *one;
  size_t length;
  if (!method) return;
  while (*list && cli_next_name(&at, &one, &length))
    if (cli_is_name(method, one, length)) return;
  snprintf(list + strlen(list), CLI_METHODS_SIZE - strlen(list), "%s%s", *list ? "," : "", method);
}

heed_status cli_explain(cli_state *cli, cli_choice *choice, heed_explain_desc *desc,
                        heed_explanation **made) {
  for (;;) {
    desc->backend = choice->opened;
    const heed_status status = heed_explain(cli->context, desc, made, &cli->error);
    if (status == HEED_OK || !cli_choice_fall_back(cli, choice, status)) return status;
  }
}
