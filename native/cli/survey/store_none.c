/* A build without SQLite: surveys are not stored. See store.h. */
#include "store.h"

static heed_status refuse(cli_state *cli, const char *path) {
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "%s: this heed has no SQLite, so surveys are not stored (expected a build with "
                   "libsqlite3, on Debian: libsqlite3-dev; --json writes the results)",
                   path);
}

heed_status survey_store_create(cli_state *cli, const char *path, const survey_identity *identity,
                                bool quiet, survey_store **store) {
  (void)identity, (void)quiet;
  *store = NULL;
  return refuse(cli, path);
}

heed_status survey_store_resume(cli_state *cli, const char *path, const survey_identity *identity,
                                bool quiet, survey_sums *sums, survey_store **store) {
  (void)identity, (void)quiet, (void)sums;
  *store = NULL;
  return refuse(cli, path);
}

heed_status survey_store_open(cli_state *cli, const char *path, survey_identity *identity,
                              survey_sums *sums, survey_store **store) {
  (void)identity, (void)sums;
  *store = NULL;
  return refuse(cli, path);
}

/* The rest is called with a store, and there is none. */
bool survey_store_has(const survey_store *store, int64_t picture) {
  (void)store, (void)picture;
  return false;
}
int64_t survey_store_first(const survey_store *store) {
  (void)store;
  return -1;
}
bool survey_store_same(const survey_store *store, int64_t picture, const survey_numbers *numbers) {
  (void)store, (void)picture, (void)numbers;
  return false;
}
void survey_store_count(const survey_store *store, int64_t *read, int64_t *failed) {
  (void)store;
  *read = *failed = 0;
}
heed_status survey_store_add(survey_store *store, const survey_picture *picture,
                             const survey_numbers *numbers, bool heads) {
  (void)store, (void)picture, (void)numbers, (void)heads;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_add_failure(survey_store *store, int64_t id, const char *path,
                                     const char *sentence) {
  (void)store, (void)id, (void)path, (void)sentence;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_commit(survey_store *store, const survey_sums *sums) {
  (void)store, (void)sums;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_put(survey_store *store, const survey_sums *sums) {
  (void)store, (void)sums;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_merge(survey_store *store, const char *path) {
  (void)store, (void)path;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_pair(cli_state *cli, const char *a, const char *b,
                              const survey_shape *shape, survey_pairs *pairs) {
  (void)b, (void)shape, (void)pairs;
  return refuse(cli, a);
}
heed_status survey_store_typical(const survey_store *store, const survey_sums *sums,
                                 survey_typical *typical) {
  (void)store, (void)sums, (void)typical;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_path(const survey_store *store, int64_t picture, char **path) {
  (void)store, (void)picture;
  *path = NULL;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_classes(const survey_store *store, void *user,
                                 void (*see)(void *user, int64_t class_, const char *name,
                                             int64_t pictures)) {
  (void)store, (void)user, (void)see;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_failures(const survey_store *store, void *user,
                                  void (*see)(void *user, const char *path, const char *why)) {
  (void)store, (void)user, (void)see;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_name_classes(survey_store *store, const heed_model *model,
                                      uint32_t count) {
  (void)store, (void)model, (void)count;
  return HEED_UNSUPPORTED;
}
heed_status survey_store_embeddings(const survey_store *store, int64_t from, uint32_t most,
                                    float *rows, int32_t *pictures, uint32_t *count) {
  (void)store, (void)from, (void)most, (void)rows, (void)pictures;
  *count = 0;
  return HEED_UNSUPPORTED;
}
void survey_pairs_free(survey_pairs *pairs) { (void)pairs; }
void survey_store_close(survey_store *store) { (void)store; }
