/* heed run: pictures through a model; class scores, maps and numbers out. */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "clip.h"
#include "explained.h"
#include "heed/onnx.h"
#include "joint.h"
#include "resampled.h"
#include "sequence.h"
#include "session/onnx_graph.h"
#include "terminal/confine.h"
#include "terminal/model_word.h"
#include "terminal/picture_list.h"
#include "texts.h"

/* The weights of each layer, then what --score or the rollout wants. */
static void name_taps(cli_pipeline *pipeline, const run_options *options, char (*names)[48],
                      const char **taps) {
  const char *what[3] = {"attention.weights"};
  uint32_t kinds = 1 + run_score_taps(options, what + 1);
  if (options->remake) {
    what[kinds++] = "query"; /* --score keeps the weights */
    what[kinds++] = "key";
  }
  uint32_t first, count;
  run_kept_layers(options, &pipeline->info, &first, &count);
  for (uint32_t k = 0; k < kinds; k++)
    for (uint32_t i = first; i < first + count; i++) {
      snprintf(names[pipeline->tap_count], sizeof *names, "layer.%u.%s", i, what[k]);
      taps[pipeline->tap_count] = names[pipeline->tap_count];
      pipeline->tap_count++;
    }
  if (pipeline->info.pool_heads) taps[pipeline->tap_count++] = RUN_POOL_TAP;
}

/* Whether only the rollout wants whole maps, and can do without: kept, they take the tokens'
 * square for each head. A device's own memory has them elsewhere. */
static bool may_remake(const cli_pipeline *pipeline, const run_options *options) {
  const bool all = (options->json || options->save) && !options->narrow.query;
  return options->rollout && !pipeline->as_graph && !all && !options->score && !options->reverse &&
         !options->save_only && !cli_changes_any(&options->changes) &&
         strcmp(heed_backend_name(options->choice.opened), "cpu") == 0;
}

/* All pictures as one video. */
static heed_status run_clip(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                            const run_batch *frames) {
  char *name;
  uint32_t failed;
  CLI_TRY(run_name_clip(cli, frames, &name));
  const char *const only = name;
  const run_batch clip = {&only, 1, {NULL}};
  options->clip = frames;
  const heed_status status = run_pictures(cli, pipeline, options, &clip, &failed);
  options->clip = NULL;
  free(name);
  return status;
}

static heed_status run_job(cli_state *cli, run_options *options, run_batch *batch,
                           uint32_t *failed) {
  cli_pipeline pipeline = {.way = options->way, .size = options->size};
  char(*names)[48] = NULL;
  const char **taps = NULL;
  heed_status status = run_check_shown(cli, options);
  if (status == HEED_OK) status = run_check_figures(cli, options);
  if (status == HEED_OK) status = run_check_explained(cli, options);
  if (status == HEED_OK && batch->count > 1) status = run_make_stems(cli, batch);
  if (status == HEED_OK) status = run_check_paths(cli, options, batch);
  if (status == HEED_OK) status = cli_pipeline_load(cli, &pipeline, options->model);
  if (status == HEED_OK) status = heed_model_prepares(pipeline.model, &cli->error);
  if (status == HEED_OK) status = run_check_clip(cli, &pipeline, options);
  if (status == HEED_OK)
    status = cli_onnx_choose(cli, options->way, options->model, true, &pipeline);
  if (status == HEED_OK) status = cli_pipeline_size(cli, &pipeline, options->size);
  if (status == HEED_OK) status = run_choose_stage(cli, &pipeline, options);
  if (status == HEED_OK) {
    names = calloc((size_t)3 * pipeline.info.layers + 1, sizeof *names);
    taps = calloc((size_t)3 * pipeline.info.layers + 2, sizeof *taps);
    if (!names || !taps)
      status = heed_fail_memory(&cli->error, "taps", 3 * pipeline.info.layers * sizeof *names);
  }
  heed_rollout_desc rollout; /* to refuse bad options before anything runs */
  if (status == HEED_OK)
    status = run_rollout_desc(cli, &options->rollout_how, &pipeline.info, 1, &rollout);
  if (status == HEED_OK) status = cli_choice_open(cli, &options->choice);
  if (status == HEED_OK) {
    options->remake = may_remake(&pipeline, options);
    name_taps(&pipeline, options, names, taps);
    pipeline.tap_names = taps;
  }
  if (status == HEED_OK && options->save_only) {
    options->features = (cli_features){.option = "--save-only",
                                       .names = options->save_only,
                                       .own = taps,
                                       .own_count = pipeline.tap_count};
    pipeline.choose_taps = cli_features_choose;
    pipeline.taps_user = &options->features;
  }
  if (status == HEED_OK) status = run_join(cli, &pipeline, options, batch);
  if (status == HEED_OK)
    status = pipeline.info.frames ? run_clip(cli, &pipeline, options, batch)
                                  : run_pictures(cli, &pipeline, options, batch, failed);
  cli_pipeline_close(&pipeline);
  cli_choice_close(&options->choice);
  cli_features_free(&options->features);
  run_resampled_free(&options->resampled);
  run_joint_free(&options->joint);
  run_free_stems(batch);
  free(names);
  free(taps);
  return status;
}

/* With nothing asked for: a scene, and the head that looks from one twin to the other
 * (runtime/demo/README.md). */
static void choose_demo(run_options *options) {
  options->scene = "159"; /* two stars, far apart */
  if (options->query || options->layer || options->head || options->size) return;
  options->query = "twin";
  options->layer = "3";
  options->head = "0";
}

/* heed run MODEL --tokens or --features; what only pictures have is refused. */
static int run_sequence(cli_state *cli, const run_options *options, sequence_options *sequence,
                        const cli_words *words) {
  if (words->count != 1 || !sequence->tokens == !sequence->features) {
    fprintf(stderr,
            "heed run: --tokens and --features: wrong arguments (found %u besides the options, "
            "expected MODEL and one of the two)\n",
            words->count);
    return CLI_USAGE;
  }
  if (options->scene || options->list || options->size || options->layer || options->head ||
      options->query || options->maps || options->rollout || options->scale || options->end ||
      options->width || options->plain || options->sheet || options->reverse || options->score ||
      options->fit || options->way || options->save_only || options->explain ||
      options->explained || options->target || options->patch_from || cli_prepare_given(cli) ||
      cli_changes_any(&options->changes)) {
    fprintf(
        stderr,
        "heed run: --scene, --list, --size, --layer, --head, --query, --maps, --rollout, --plain, "
        "--sheet, --scale, --end, --width, --reverse, --score, --fit, --way, --save-only, "
        "--explain, --explained, --target, --patch-from, --mean "
        "and their "
        "kind, and "
        "changes of the attention are for "
        "images (found one with --tokens or --features)\n");
    return CLI_USAGE;
  }
  char chosen[HEED_PATH_SIZE];
  sequence->json = options->json;
  sequence->save = options->save;
  return sequence_run(cli, sequence, cli_model_file(words->word[0], options->file, chosen)) ==
                 HEED_OK
             ? CLI_OK
             : cli_fail(cli);
}

/* heed run MODEL [IMAGE] --text; what belongs to a picture's attention is refused. */
static int run_texts(cli_state *cli, const run_options *options, compare_options *compare,
                     const sequence_options *sequence, const cli_words *words) {
  char chosen[HEED_PATH_SIZE];
  if (words->count < 1 || words->count > 2) {
    fprintf(stderr,
            "heed run: --text: wrong arguments (found %u besides the options, expected MODEL and "
            "at most one image)\n",
            words->count);
    return CLI_USAGE;
  }
  if (options->scene || options->list || options->query || options->rollout || options->scale ||
      options->end || options->plain || options->sheet || options->reverse || options->score ||
      options->way || options->save_only || options->explain || options->explained ||
      options->target || options->patch_from || sequence->tokens || sequence->features ||
      sequence->length || cli_changes_any(&options->changes)) {
    fprintf(stderr,
            "heed run: --scene, --list, --query, --rollout, --plain, --sheet, --scale, --end, "
            "--reverse, --score, --way, --save-only, --explain, --explained, --target, "
            "--patch-from, --tokens, --features, "
            "--length and changes of "
            "the attention "
            "cannot be given with --text\n");
    return CLI_USAGE;
  }
  compare->model = cli_model_file(words->word[0], options->file, chosen);
  compare->picture = words->count > 1 ? words->word[1] : NULL;
  compare->fit = options->fit;
  compare->size = options->size;
  compare->layer = options->layer;
  compare->head = options->head;
  compare->maps = options->maps;
  compare->json = options->json;
  compare->save = options->save;
  compare->width = options->width;
  compare->most_patches = options->most_patches;
  compare->limits = &options->limits;
  return compare_run(cli, compare) == HEED_OK ? CLI_OK : cli_fail(cli);
}

/* heed run [MODEL] [IMAGE...]. */
static int run_images(cli_state *cli, run_options *options, const cli_words *words) {
  if (options->top > RUN_MOST_TOP) {
    fprintf(stderr, "heed run: --top: out of range (found %u, expected 0 to %d)\n", options->top,
            RUN_MOST_TOP);
    return CLI_USAGE;
  }
  if (options->save_only && !options->save && !options->json) {
    fprintf(stderr, "heed run: --save-only: missing file (expected --save FILE or --json FILE)\n");
    return CLI_USAGE;
  }
  bool has_model;
  const char *embedded = NULL;
  char chosen[HEED_PATH_SIZE];
  if (cli_take_model(cli, words, options->list, &options->limits, &has_model) != HEED_OK)
    return cli_fail(cli);
  options->model = has_model ? cli_model_file(words->word[0], options->file, chosen) : NULL;
  const uint32_t count = words->count - has_model;
  run_set_narrow(options);
  if (words->count == 0 && !options->scene && !options->list) choose_demo(options);
  if (options->scene && (count > 0 || options->list)) {
    fprintf(stderr, "heed run: --scene replaces images (found %u images%s, expected none)\n", count,
            options->list ? " and --list" : "");
    return CLI_USAGE;
  }
  picture_list named = {.most = options->most_images};
  run_batch batch = {options->scene ? &options->scene : &embedded, 1, {NULL}};
  uint32_t failed = 0;
  heed_status status = picture_list_make(cli, words->word + has_model, count, options->list,
                                         options->choice.quiet, &named);
  if (named.count) batch = (run_batch){(const char *const *)named.path, named.count, {NULL}};
  if (status == HEED_OK) status = run_job(cli, options, &batch, &failed);
  picture_list_free(&named);
  if (status != HEED_OK) return cli_fail(cli);
  if (failed)
    fprintf(stderr, "heed run: images: cannot read all (found %u bad ones of %u)\n", failed,
            batch.count);
  return failed ? CLI_BAD_FILE : CLI_OK;
}

static int run(cli_state *cli, int argc, char **argv) {
  run_options options = {.choice = CLI_CHOICE_INIT,
                         .top = 5,
                         .clusters = 5,
                         .most_images = CLI_MOST_PICTURES,
                         .most_patches = CLI_MOST_PATCHES,
                         .limits = {.struct_size = sizeof options.limits}};
  sequence_options sequence = {.choice = &options.choice};
  cli_words words;
  cli_texts texts = {.count = 0};
  compare_options compare = {.choice = &options.choice, .texts = &texts};
  const cli_option table[] = {
      {"--text", CLI_TEXTS, &texts, "TEXT",
       "compare the image with this text (CLIP, SigLIP); may be given again; --maps then draws "
       "the similarity of each patch to each text"},
      {"--text-maps", CLI_FILE, &compare.text_maps, RUN_FIGURE_NAME,
       "draw the attention of the first --text, tokens x tokens"},
      CLI_LIST_OPTION(options.list),
      CLI_MOST_IMAGES_OPTION(options.most_images, "100000"),
      {"--most-patches", CLI_NUMBER, &options.most_patches, "N",
       "refuse a model that cuts an image into more patches, unless --size says so (default: "
       "65536)"},
      CLI_IMAGE_OPTIONS(options.limits),
      {"--scene", CLI_TEXT, &options.scene, "SEED|FILE.json",
       "use this generated scene instead of an image"},
      {"--fit", CLI_TEXT, &options.fit, "model|whole",
       "image area to use: the model's crop, or the whole image padded with the mean colour "
       "(default: model)"},
      CLI_FILE_OPTION(options.file),
      CLI_WEIGHTS_OPTIONS(cli),
      CLI_MODEL_WAY_OPTION(options.way),
      CLI_GRAPH_OPTIONS(cli),
      CLI_SIZE_OPTION(options.size),
      CLI_PREPARE_OPTIONS(cli),
      {"--top", CLI_NUMBER, &options.top, "K", "print the K most likely classes (default: 5)"},
      RUN_MAP_OPTIONS(options, "NAME|twin|[TIME,]ROW,COL"),
      {"--sheet", CLI_FILE, &options.sheet, RUN_FIGURE_NAME,
       "draw all images on one page, each under the mean of its maps, with its class"},
      {"--json", CLI_JSON, &options.json, "OUT.json|.jsonl|-",
       "write scores, maps and statistics of every head; .jsonl: a line per image; -: to stdout, "
       "and text to stderr"},
      {"--save", CLI_TENSORS, &options.save, "OUT.safetensors|.npz|.npy|-",
       "save pixel_values, logits, attention.N and rollout; -: .safetensors to stdout, and text to "
       "stderr"},
      {"--save-only", CLI_TEXT, &options.save_only, "NAME,...",
       "save these values instead, and into --json: embedding, cls, mean, logits, attention.N or "
       "any "
       "value of the graph; * stands for any letters"},
      {"--explain", CLI_TEXT, &options.explain, "NAME,...",
       "what the patches' states hold: pca, similarity to the query's, kmeans, norms, outliers; "
       "what "
       "the score rests on: ledger, lens, patch; and maps of it: gradcam, relevancy, "
       "gradient_rollout, attnlrp, "
       "cplrp, inputxgrad, ig, smoothgrad"},
      {"--target", CLI_TEXT, &options.target, "N|N-M|LABEL",
       "the score that is explained: a logit by number or label, or the difference of two "
       "(default: the largest logit)"},
      {"--joint", CLI_FLAG, &options.joint.wanted, NULL,
       "--explain pca: the components of all images together, so that colours compare"},
      {"--clusters", CLI_NUMBER, &options.clusters, "K", "groups of --explain kmeans (default: 5)"},
      {"--patch-from", CLI_TEXT, &options.patch_from, "IMAGE",
       "--explain patch: the picture whose heads are put in, one at a time"},
      {"--explained", CLI_FILE, &options.explained, RUN_FIGURE_NAME,
       "draw what --explain finds; of several methods each has a file of its own (out-pca.png)"},
      {"--tokens", CLI_TEXT, &sequence.tokens, "5,3,9",
       "decode these source token ids (encoder-decoder MODEL)"},
      {"--features", CLI_TEXT, &sequence.features, "FILE.safetensors",
       "decode the feature vectors in tensor 'source' [S, F]"},
      {"--length", CLI_NUMBER, &sequence.length, "N",
       "decode at most N tokens (default: the model's max_length)"},
      {"--reverse", CLI_FLAG, &options.reverse, NULL,
       "show attention received by the query instead"},
      {"--score", CLI_TEXT, &options.score, "raw|scaled|masked|value",
       "also write these attention scores of the query to --json"},
      RUN_ROLLOUT_OPTIONS(options.rollout_how),
      CLI_CHANGES_OPTIONS(options.changes),
      CLI_SANDBOX_OPTION(cli),
      CLI_CHOICE_OPTIONS(options.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(
      cli,
      "run [MODEL] [IMAGE|FOLDER...] [options]\n\n" CLI_MODEL_OR_BUILT_IN
      "\nThe demo model knows drawn shapes only. Without IMAGE: the built-in exact_224.png.\n"
      "Without both: one of the demo's scenes. FOLDER after MODEL stands for the image "
      "files "
      "in it.\nOf several images each has files of its own (maps.png: maps-NAME.png). A bad one "
      "gives its\nsentence, the others go on, and the exit code is 3.",
      table, argc, argv, &words);
  if (code >= 0) return code;
  if (texts.count) return run_texts(cli, &options, &compare, &sequence, &words);
  if (compare.text_maps) {
    fprintf(stderr, "heed run: --text-maps: no text (expected --text TEXT)\n");
    return CLI_USAGE;
  }
  if (sequence.tokens || sequence.features || sequence.length)
    return run_sequence(cli, &options, &sequence, &words);
  return run_images(cli, &options, &words);
}

const cli_verb cli_verb_run = {"run", "classify images and export attention maps", run};
