/* heed-onnx.wasm: ONNX files as .safetensors. See shim.h and heed/onnx.h. */
#include "heed/onnx.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "pickle/foreign.h"
#include "shim.h"

#define MOST_FILES 64 /* of external data */

heed_web *heed_web_create(uint32_t threads) {
  (void)threads;
  return heed_web_open();
}

/* Files of external data: those that JavaScript has, and those that it must bring. */
typedef struct data_files {
  const heed_web *web;
  const char *name, *locations;
  const double *sizes;
  uint32_t count, wanted_count;
  char *wanted[MOST_FILES];
} data_files;

static data_files last;
static char note[512];

static heed_status want(data_files *files, const char *location, heed_source *source,
                        heed_error *error) {
  char *copy = heed_copy_string(files->web->context, location, strlen(location));
  if (!copy) return heed_fail_memory(error, location, strlen(location) + 1);
  files->wanted[files->wanted_count++] = copy;
  *source = heed_web_host_source(UINT32_MAX, (double)(1ull << 62)); /* nothing is read of it */
  return HEED_OK;
}

/* As heed_onnx_external; the reader asks for each location once, and for MOST_FILES at most. */
static heed_status open_external(void *user, const char *location, heed_source *source,
                                 heed_error *error) {
  data_files *files = user;
  const char *at = files->locations;
  uint32_t i = 0;
  if (!heed_is_plain_location(location))
    return heed_refuse_location(files->name, location, HEED_LOCATION_ELSEWHERE, error);
  for (; i < files->count && strcmp(at, location) != 0; i++) at += strlen(at) + 1;
  if (i == files->count) return want(files, location, source, error);
  if (files->sizes[i] < 0)
    return heed_refuse_location(
        files->name, location,
        files->sizes[i] < -1 ? HEED_LOCATION_LINK : "found no file of this name", error);
  *source = heed_web_host_source(i + 1, files->sizes[i]);
  return HEED_OK;
}

heed_status heed_web_onnx_open(heed_web *web, const char *name, double size, const char *locations,
                               const double *sizes, uint32_t count) {
  heed_onnx *file = NULL;
  last = (data_files){
      .web = web, .name = name, .locations = locations, .sizes = sizes, .count = count};
  const heed_onnx_desc desc = {sizeof desc, heed_web_host_source(0, size), name, open_external,
                               &last};
  const heed_status status = heed_onnx_open(web->context, &desc, &file, &web->error);
  web->out.pickle = (struct heed_web_out_pickle){0};
  if (last.wanted_count) { /* whatever came of it without them */
    heed_onnx_destroy(file);
    return HEED_OK;
  }
  if (status != HEED_OK) return status;
  web->out.pickle = (struct heed_web_out_pickle){
      .address = HEED_WEB_ADDRESS(file), .size = (double)heed_onnx_source(file).size, .shares = 1};
  snprintf(note, sizeof note, HEED_ONNX_NOTE, heed_utf8_cut(name, 100), name,
           heed_onnx_summary(file));
  return HEED_OK;
}

const char *heed_web_onnx_wanted(uint32_t index) {
  return index < last.wanted_count ? last.wanted[index] : NULL;
}

const char *heed_web_onnx_note(void) { return note; }

heed_status heed_web_onnx_read(heed_web *web, heed_onnx *file, double offset, void *to,
                               size_t count) {
  const heed_source source = heed_onnx_source(file);
  return source.read(source.user, (uint64_t)offset, to, count, &web->error);
}
