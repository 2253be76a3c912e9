/* ONNX files as .safetensors. See shim.h, onnx.h and heed/onnx.h. */
#include "onnx.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "pickle/foreign.h"

#define MOST_FILES 64 /* of external data */

/* Files of external data: those that JavaScript has, and those that it must bring. */
typedef struct data_files {
  const heed_web *web;
  const char *name, *locations;
  const double *sizes;
  const uint32_t *sources;
  uint32_t count, wanted_count;
  char *wanted[MOST_FILES];
} data_files;

static data_files last;

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
  *source = heed_web_host_source(files->sources[i], files->sizes[i]);
  return HEED_OK;
}

static void close_onnx(const heed_web *web, heed_web_reader *reader) {
  heed_web_onnx *onnx = (heed_web_onnx *)reader;
  heed_onnx_lowered_destroy(onnx->lowered);
  heed_onnx_destroy(onnx->file);
  heed_free(web->context, onnx);
}

static void forget_wanted(void) {
  for (uint32_t i = 0; i < last.wanted_count; i++) heed_free(last.web->context, last.wanted[i]);
  last.wanted_count = 0;
}

heed_status heed_web_onnx_open(heed_web *web, const char *name, const char *locations,
                               const double *sizes, const uint32_t *sources, uint32_t count) {
  heed_onnx *file = NULL;
  forget_wanted();
  last = (data_files){.web = web,
                      .name = name,
                      .locations = locations,
                      .sizes = sizes + 1,
                      .sources = sources + 1,
                      .count = count};
  const heed_onnx_desc desc = {sizeof desc, heed_web_host_source(sources[0], sizes[0]), name,
                               open_external, &last};
  const heed_status status = heed_onnx_open(web->context, &desc, &file, &web->error);
  web->out.reader = (struct heed_web_out_reader){0};
  if (last.wanted_count) { /* whatever came of it without them */
    heed_onnx_destroy(file);
    return HEED_OK;
  }
  if (status != HEED_OK) return status;
  heed_web_onnx *onnx = heed_alloc(web->context, 1, sizeof *onnx);
  if (!onnx) {
    heed_onnx_destroy(file);
    return heed_fail_memory(&web->error, name, sizeof *onnx);
  }
  *onnx = (heed_web_onnx){.base = {heed_onnx_source(file), close_onnx}, .file = file};
  snprintf(onnx->note, sizeof onnx->note, HEED_ONNX_NOTE, heed_utf8_cut(name, 100), name,
           heed_onnx_summary(file));
  web->out.reader = (struct heed_web_out_reader){
      .address = HEED_WEB_ADDRESS(onnx), .size = (double)onnx->base.source.size, .shares = 1};
  return HEED_OK;
}

const char *heed_web_onnx_wanted(uint32_t index) {
  return index < last.wanted_count ? last.wanted[index] : NULL;
}

const char *heed_web_onnx_note(const heed_web_onnx *onnx) { return onnx->note; }
