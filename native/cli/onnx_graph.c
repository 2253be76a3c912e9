/* ONNX files as graphs. See onnx_graph.h. */
#include "onnx_graph.h"

#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"

/* Whether heed's own builder takes the model: its config is there, and every tensor. */
static bool has_builder(cli_state *cli, heed_model_files *files) {
  const heed_model_desc *desc = heed_model_files_desc(files);
  heed_model *model = NULL;
  heed_error ignored;
  bool has_config = false;
  for (uint32_t i = 0; i < desc->file_count; i++)
    has_config |= strcmp(desc->files[i].name, "config.json") == 0;
  const bool opens = has_config && heed_model_open(cli->context, desc, &model, &ignored) == HEED_OK;
  if (opens) heed_model_destroy(model);
  return opens;
}

heed_status cli_onnx_is_graph(cli_state *cli, const cli_onnx *job, bool *is_graph) {
  heed_model_files *files;
  heed_error ignored;
  *is_graph = false;
  if (job->way && strcmp(job->way, "weights") != 0 && strcmp(job->way, "graph") != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--way: unknown way (found \"%s\", expected weights or graph)", job->way);
  if (job->way && strcmp(job->way, "weights") == 0) return HEED_OK;
  if (heed_model_files_open(cli->context, job->model, &files, &ignored) != HEED_OK) return HEED_OK;
  *is_graph = heed_model_files_onnx(files) && (job->way || !has_builder(cli, files));
  heed_model_files_destroy(files);
  return HEED_OK;
}

/* As heed_file_writer, of a heed_source. */
static heed_status copy_source(void *user, FILE *to, heed_error *error) {
  const heed_source *source = user;
  unsigned char bytes[65536];
  for (uint64_t done = 0; done < source->size;) {
    const uint64_t left = source->size - done;
    const size_t here = left < sizeof bytes ? (size_t)left : sizeof bytes;
    CLI_TRY(source->read(source->user, done, bytes, here, error));
    if (fwrite(bytes, 1, here, to) != here) return HEED_OK; /* the writer says why */
    done += here;
  }
  return HEED_OK;
}

static heed_status evaluate(cli_state *cli, const cli_onnx *job, struct heed_onnx *onnx,
                            const unsigned char *bytes, size_t size) {
  heed_onnx_result *result;
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {size, bytes, NULL, NULL},
                                        .name = job->in,
                                        .attentions = job->attentions};
  if (!job->quiet)
    fprintf(stderr, "heed: %s: run as an ONNX graph, in double (%s)\n", CLI_SHOWN(job->model),
            CLI_SHOWN(heed_onnx_summary(onnx)));
  CLI_TRY(heed_onnx_evaluate(onnx, &desc, &result, &cli->error));
  heed_source source = heed_onnx_result_source(result);
  const heed_status status = heed_file_stream(job->out, copy_source, &source, &cli->error);
  heed_onnx_result_destroy(result);
  return status;
}

heed_status cli_onnx_eval(cli_state *cli, const cli_onnx *job) {
  heed_model_files *files;
  unsigned char *bytes = NULL;
  size_t size = 0;
  CLI_TRY(heed_model_files_open(cli->context, job->model, &files, &cli->error));
  heed_status status = heed_file_read(job->in, UINT64_C(1) << 32, &bytes, &size, &cli->error);
  if (status == HEED_OK) status = evaluate(cli, job, heed_model_files_onnx(files), bytes, size);
  free(bytes);
  heed_model_files_destroy(files);
  return status;
}

bool cli_onnx_inspect(cli_state *cli, const char *model) {
  const cli_onnx job = {.model = model};
  heed_model_files *files;
  heed_error ignored;
  bool is_graph = false;
  if (!model || cli_onnx_is_graph(cli, &job, &is_graph) != HEED_OK || !is_graph ||
      heed_model_files_open(cli->context, model, &files, &ignored) != HEED_OK)
    return false;
  const struct heed_onnx *onnx = heed_model_files_onnx(files);
  uint32_t count = 0;
  printf("ONNX graph: %s\n", CLI_SHOWN(heed_onnx_summary(onnx)));
  for (const char *name; (name = heed_onnx_attention_name(onnx, count)); count++)
    printf("attention %u: %s\n", count, CLI_SHOWN(name));
  if (!count) printf("no attention was found\n");
  for (uint32_t i = 0; heed_onnx_missing_op(onnx, i); i++)
    printf("op not supported: %s\n", CLI_SHOWN(heed_onnx_missing_op(onnx, i)));
  heed_model_files_destroy(files);
  return true;
}
