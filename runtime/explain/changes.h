/* The inputs that changes stand for, one by one, for who has no session to write them to. */
#ifndef HEED_EXPLAIN_CHANGES_H
#define HEED_EXPLAIN_CHANGES_H

#include "heed/explain.h"

#define HEED_CHANGES_NAME_SIZE 48

/* An input of a graph with `intervene`, for one picture. */
typedef struct heed_changes_input {
  char name[HEED_CHANGES_NAME_SIZE];
  heed_dtype dtype; /* U8 or F32 */
  size_t bytes;
} heed_changes_input;

uint32_t heed_changes_input_count(const heed_changes *changes);
/* Bytes of the largest input. */
size_t heed_changes_room(const heed_changes *changes);
/* Fills `block` with the index-th input. */
void heed_changes_get_input(const heed_changes *changes, uint32_t index, heed_changes_input *input,
                            unsigned char *block);

#endif
