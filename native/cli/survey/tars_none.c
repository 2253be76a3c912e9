/* A build without libarchive reads no tar archives. See tars.h. */
#include "tars.h"

heed_status survey_tars_add(cli_state *cli, const char *path, uint64_t most, sha256 *hash,
                            survey_tars *tars) {
  (void)most;
  (void)hash;
  (void)tars;
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "%s: this heed has no libarchive (expected a build with HEED_ARCHIVE, or the "
                   "unpacked folder)",
                   path);
}

void survey_tars_close(survey_tars *tars) { *tars = (survey_tars){0}; }

heed_status survey_tars_get(cli_state *cli, survey_tars *tars, uint64_t index, size_t most,
                            survey_member *member) {
  (void)tars;
  (void)index;
  (void)most;
  *member = (survey_member){0};
  return heed_fail(&cli->error, HEED_INTERNAL, "tar: no archives in this build");
}

heed_status survey_tar_find(cli_state *cli, const char *path, size_t most, survey_member *member) {
  (void)cli;
  (void)path;
  (void)most;
  *member = (survey_member){0};
  return HEED_OK;
}
