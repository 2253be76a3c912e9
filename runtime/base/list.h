/* Lists of words as one text: "vit|deit|dinov2". */
#ifndef HEED_BASE_LIST_H
#define HEED_BASE_LIST_H

#include <stdbool.h>

/* Whether a '|'-separated list, or NULL, has the item. */
bool heed_list_has(const char *list, const char *item);

#endif
