/* A new folder of a test, among the system's temporary files. */
#ifndef HEED_TESTS_SUPPORT_FOLDER_H
#define HEED_TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Puts its path in `folder`: UTF-8, with '/' between names. */
bool test_folder_make(char *folder, size_t size, const char *stem);
/* A folder of this name; paths are UTF-8. */
bool test_folder_add(const char *path);
/* False where something is left in it. */
bool test_folder_remove(const char *path);
/* Another name for a file. */
bool test_hard_link(const char *file, const char *name);

#endif
