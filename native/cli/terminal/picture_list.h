/* The pictures of a run: named one by one, as folders of them, or in a list. */
#ifndef HEED_CLI_TERMINAL_PICTURE_LIST_H
#define HEED_CLI_TERMINAL_PICTURE_LIST_H

#include "options.h"

/* Of one run, all sources together; --most-images N says another. */
#define CLI_MOST_PICTURES 100000

#define CLI_MOST_IMAGES_OPTION(most, default_)                 \
  {                                                            \
    "--most-images", CLI_NUMBER, &(most), "N",                 \
        "refuse more images than this (default: " default_ ")" \
  }
#define CLI_LIST_OPTION(list)                                                \
  {                                                                          \
    "--list", CLI_TEXT, &(list), "FILE",                                     \
        "more images: a path a line, from the current folder; - reads stdin" \
  }

typedef struct picture_list {
  char **path;  /* malloc'ed, each */
  char **label; /* the same of each picture's class, or NULL where it has none */
  uint32_t count, capacity;
  uint32_t most; /* set by the caller */
  /* set by the caller: a folder without pictures may stand for the folders in it, whose names are
   * the classes of the pictures in them */
  bool classes;
  /* set by the caller: a folder stands for the pictures in all folders below it, too; links to
   * folders are left out */
  bool deep;
} picture_list;

/* Whether a file's name ends as pictures do: .png .jpg .jpeg .jpe .jfif .webp .tif .tiff. */
bool cli_is_picture_name(const char *name);
/* Puts the pictures that `words` name, then those of the list, in this order. A folder stands for
 * the files in it that end as pictures do, by name, without folders
 * below and hidden files; what else is there is counted on stderr, unless quiet. A list has a path
 * a line, from the current folder; "-" is stdin, NULL none; empty lines are skipped. Statuses: IO,
 * INVALID_FILE (a folder or list without pictures; too many), OUT_OF_MEMORY. */
heed_status picture_list_make(cli_state *cli, const char *const *words, uint32_t count,
                              const char *list, bool quiet, picture_list *pictures);
void picture_list_free(picture_list *pictures);

#endif
