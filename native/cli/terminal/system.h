/* What the program asks of the operating system beside files (files/os.h) and signals (cli.h), with
 * a file for each: system_posix.c, system_windows.c. CMake chooses. */
#ifndef HEED_CLI_TERMINAL_SYSTEM_H
#define HEED_CLI_TERMINAL_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* First of all. The words become UTF-8 on Windows and stay bytes elsewhere; standard streams then
 * carry bytes as they are. false: there is no memory for the words. */
bool cli_system_begin(int *count, char ***words);
/* Whether somebody may read this as it comes. */
bool cli_system_is_terminal(FILE *file);
/* What stdout was, for a file; what is printed to stdout goes to stderr from then on. NULL: no
 * descriptor is left. */
FILE *cli_system_take_stdout(void);
/* Whether `file`, to which writing failed, is a pipe whose reader has closed it. */
bool cli_system_reader_left(FILE *file);
/* The user's folder for what can be made again, with heed's name. false: there is none. */
bool cli_system_cache_folder(char *path, size_t size);
/* The most memory that this program has had, in bytes. */
int64_t cli_system_peak_bytes(void);
/* As pthread_create, of a thread that takes no signal. */
bool cli_system_thread(pthread_t *thread, const pthread_attr_t *attributes,
                       void *(*work)(void *user), void *user);

/* A stream whose bytes are in memory once it is closed. */
typedef struct cli_memory {
  FILE *file;
  char *bytes; /* malloc'ed, with a 0 after them */
  size_t size;
} cli_memory;

bool cli_memory_open(cli_memory *memory);
/* false: not all of it is there; bytes is then NULL. */
bool cli_memory_close(cli_memory *memory);

#endif
