/* Where a survey's file lies. */
#ifndef HEED_CLI_SURVEY_STORAGE_H
#define HEED_CLI_SURVEY_STORAGE_H

#include <stdbool.h>

/* Whether a file of this path would lie on storage that other machines may write, too: NFS, SMB,
 * 9P, FUSE, Lustre, Ceph, GPFS, BeeGFS and others. A write-ahead log needs memory that all writers
 * share. false where the system does not tell. */
bool survey_is_shared_storage(const char *path);

#endif
