/* Maps of heed_patch_map by their names, for the verbs that make them of many pictures. */
#ifndef HEED_CLI_SESSION_PATCH_MAPS_H
#define HEED_CLI_SESSION_PATCH_MAPS_H

#include "backend_selection.h"

#define CLI_METHODS_SIZE 512

/* The next name of a list "a,b", which is not 0-terminated; false after the last. */
bool cli_next_name(const char **list, const char **name, size_t *length);
bool cli_is_name(const char *name, const char *found, size_t length);
/* The map of this name; false: none. */
bool cli_patch_map_find(const char *name, size_t length, uint32_t *index);
/* Adds a method of heed_explain to a list of them, once; NULL: none. */
void cli_methods_add(char list[CLI_METHODS_SIZE], const char *method);
/* heed_explain on the backend of the choice; on the CPU where a device fails that was only a
 * choice. Statuses: those of heed_explain. */
heed_status cli_explain(cli_state *cli, cli_choice *choice, heed_explain_desc *desc,
                        heed_explanation **made);

#endif
