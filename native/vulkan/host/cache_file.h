/* Files of the cache on disk: never through a link, and only what this user alone may write. */
#ifndef HEED_VULKAN_HOST_CACHE_FILE_H
#define HEED_VULKAN_HOST_CACHE_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* NULL where the file is not there. NULL and *refused where it is a link, no regular file, another
 * user's, or one that others may write: whoever wrote it could replace compiled kernels. */
FILE *heed_vk_cache_file_open(const char *path, bool *refused);

/* A new file that this user alone may read and write; a leftover of that name is removed. */
FILE *heed_vk_cache_file_create(const char *path);

/* Puts a file in the place of another, or of none. */
bool heed_vk_cache_file_replace(const char *from, const char *to);
void heed_vk_cache_file_remove(const char *path);

/* A folder for this user alone, where nothing of the name is there. */
void heed_vk_cache_folder_make(const char *path);

/* The number of this process. */
long heed_vk_cache_process(void);

#endif
