/* The two forms of torch.save's files: what the pickle holds, and where storages lie. */
#ifndef HEED_PICKLE_CONTAINER_H
#define HEED_PICKLE_CONTAINER_H

#include "heed/model.h"
#include "pickle/heap.h"
#include "pickle/zip.h"

typedef struct heed_container {
  heed_pickle_heap heap;
  heed_pickle_id root;
  heed_zip zip;       /* of the zip form */
  const char *folder; /* its name in zip.names, which ends with '/'; or "" */
  uint32_t folder_bytes;
  bool is_zip;
  /* one storage of each key, in the order of keys; of the other form its place, too; 0: none */
  heed_pickle_id *storages;
  uint64_t *places;
  uint32_t storage_count;
  heed_pickle_id found; /* the storage that was located last; 0: none */
  uint64_t place;
} heed_container;

/* Borrows all; what it leaves is to be closed, also when it fails. Statuses: INVALID_FILE,
 * UNSUPPORTED, OUT_OF_MEMORY, those of the source. */
heed_status heed_container_open(const heed_context *context, const heed_source *source,
                                const char *where, heed_container *container, heed_error *error);
void heed_container_close(heed_container *container);
/* Where in the file the data of a STORAGE begins. Statuses: as open. */
heed_status heed_container_locate(heed_container *container, heed_pickle_id storage,
                                  uint64_t *offset, heed_error *error);

#endif
