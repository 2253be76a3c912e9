/* The words and options of heed survey. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "job.h"
#include "merge.h"
#include "shard.h"
#include "terminal/model_word.h"
#include "terminal/options.h"

static int survey_words(cli_state *cli, survey_options *options, const cli_words *words,
                        uint32_t shard, uint32_t shards) {
  bool has_model;
  if (cli_take_model(cli, words, options->list || options->tar || options->scenes, &options->limits,
                     &has_model) != HEED_OK)
    return cli_fail(cli);
  char chosen[HEED_PATH_SIZE];
  survey_job job = {.cli = cli,
                    .options = options,
                    .inputs = {.files = {.deep = options->recursive},
                               .most_bytes = options->limits.bytes,
                               .scenes = options->scenes,
                               .seed = options->seed,
                               .shard = shard,
                               .shards = shards}};
  options->model = has_model ? cli_model_file(words->word[0], options->file, chosen) : NULL;
  const survey_inputs_desc inputs = {.words = words->word + has_model,
                                     .count = words->count - has_model,
                                     .tar = options->tar,
                                     .list = options->list,
                                     .most = options->most_images,
                                     .written = options->outputs.json,
                                     .quiet = options->choice.quiet};
  heed_status status = HEED_OK;
  if (options->out && !options->shard) status = survey_ranks_begin(cli, &job.ranks);
  if (status == HEED_OK) status = survey_inputs_make(cli, &inputs, &job.inputs);
  if (status == HEED_OK) status = survey_run(&job);
  return survey_end(&job, status);
}

static int merge(cli_state *cli, const survey_options *options, const cli_words *words) {
  const survey_merge_desc desc = {words->word,       words->count,     options->out,
                                  &options->outputs, &options->limits, options->choice.quiet};
  if (!words->count) {
    fprintf(stderr, "heed survey: --merge: no files (expected PART.sqlite...)\n");
    return CLI_USAGE;
  }
  return survey_merge(cli, &desc) == HEED_OK ? CLI_OK : cli_fail(cli);
}

static int compare(cli_state *cli, const survey_options *options, const cli_words *words) {
  if (words->count != 2) {
    fprintf(stderr, "heed survey: --compare: wrong arguments (found %u files, expected two)\n",
            words->count);
    return CLI_USAGE;
  }
  return survey_compare(cli, words->word[0], words->word[1], &options->outputs) == HEED_OK
             ? CLI_OK
             : cli_fail(cli);
}

static int check_words(survey_options *options, const cli_words *words, uint32_t *shard,
                       uint32_t *shards, char path[HEED_PATH_SIZE]) {
  const bool model_alone = words->count == 1 && heed_is_model_path(words->word[0]) &&
                           !cli_is_other_folder(words->word[0]);
  if (options->shard && !survey_shard_read(options->shard, getenv, shard, shards)) {
    fprintf(stderr,
            "heed survey: --shard: wrong share (found %s, expected I/N, as 2/10, or auto under a "
            "launcher that heed knows)\n",
            CLI_SHOWN(options->shard));
    return CLI_USAGE;
  }
  if (options->out && options->shard &&
      !survey_shard_path(options->out, *shard, path, HEED_PATH_SIZE)) {
    fprintf(stderr, "heed survey: -o: path too long (expected at most %d bytes)\n",
            HEED_PATH_SIZE - 1);
    return CLI_USAGE;
  }
  if (options->out && options->shard) options->out = path;
  const char *stored = options->resume               ? "--resume"
                       : options->sums_only          ? "--sums-only"
                       : options->outputs.embeddings ? "--embeddings"
                                                     : NULL;
  if (stored && !options->out) {
    fprintf(stderr, "heed survey: %s: no file of a survey (expected -o SURVEY.sqlite)\n", stored);
    return CLI_USAGE;
  }
  if (options->scenes > UINT32_MAX - options->seed) {
    fprintf(stderr, "heed survey: --seed: too large (found %u, expected at most %u)\n",
            options->seed, UINT32_MAX - options->scenes);
    return CLI_USAGE;
  }
  if ((words->count && !model_alone) || options->list || options->tar || options->scenes) return -1;
  fprintf(stderr,
          "heed survey: no images%s (expected IMAGE, FOLDER, ARCHIVE.tar, --list or --scenes N)\n",
          model_alone ? " after MODEL" : "");
  return CLI_USAGE;
}

static int run(cli_state *cli, int argc, char **argv) {
  survey_options options = {.choice = CLI_CHOICE_INIT,
                            .seed = 1,
                            .commit = 64,
                            .outputs = SURVEY_OUTPUTS_INIT,
                            .most_images = SURVEY_MOST_PICTURES,
                            .limits = {.struct_size = sizeof options.limits}};
  cli_words words;
  const cli_option table[] = {
      {"-o", CLI_FILE, &options.out, "SURVEY.sqlite",
       "file for the survey, a database of SQLite (docs/surveys.md)"},
      {"--commit", CLI_NUMBER, &options.commit, "N",
       "images between two commits, which come every 5 seconds at least (default: 64)"},
      {"--resume", CLI_FLAG, &options.resume, NULL, "go on with the survey of -o, or begin it"},
      {"--shard", CLI_TEXT, &options.shard, "I/N|auto",
       "only every N-th image, from the I-th on; auto: as Open MPI, MPICH, Slurm or Kubernetes "
       "number this process; {} in -o becomes I; --merge puts the shards together"},
      {"--merge", CLI_FLAG, &options.merge, NULL,
       "the words are files of surveys: print their sums, and write them to -o"},
      {"--compare", CLI_FLAG, &options.compare, NULL,
       "the words are files of two surveys: print which heads moved"},
      {"--recursive", CLI_FLAG, &options.recursive, NULL, "read the folders below, too"},
      {"--strict", CLI_FLAG, &options.strict, NULL, "end at the first bad image"},
      {"--whole-jpegs", CLI_FLAG, &options.whole_jpegs, NULL,
       "decode all pixels of JPEGs of more than twice the model's size, as heed run does"},
      {"--methods", CLI_TEXT, &options.methods, "NAME,...",
       "mean maps over the patches, too, as heed judge names them: ledger, rollout, ..."},
      {"--sums-only", CLI_FLAG, &options.sums_only, NULL,
       "store no row for each head of each image"},
      SURVEY_OUTPUT_OPTIONS(options.outputs),
      {"--tar", CLI_TEXT, &options.tar, "FILE",
       "images in a tar archive of whatever name, also compressed; - reads stdin"},
      CLI_LIST_OPTION(options.list),
      {"--scenes", CLI_NUMBER, &options.scenes, "N", "N generated scenes, too"},
      {"--seed", CLI_NUMBER, &options.seed, "S", "seed of the first scene (default: 1)"},
      CLI_MOST_IMAGES_OPTION(options.most_images, "16777216"),
      CLI_MODEL_OF_IMAGES_OPTIONS(cli, options),
      CLI_CHOICE_OPTIONS(options.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  int code = cli_parse(
      cli,
      "survey [MODEL] [IMAGE|FOLDER|ARCHIVE.tar...] [options]\nusage: heed survey --merge "
      "PART.sqlite... [-o "
      "ALL.sqlite] [--report OUT.html]\nusage: heed survey --compare A.sqlite B.sqlite [--report "
      "OUT.html]\n\n" CLI_MODEL_OR_BUILT_IN "\nThere is an IMAGE, a FOLDER, an ARCHIVE, --tar, "
      "--list or --scenes. FOLDER and ARCHIVE stand "
      "for\nthe image files in them. A bad image gives its sentence, the others go on, and the "
      "exit "
      "code is 3.",
      table, argc, argv, &words);
  if (code >= 0) return code;
  if (options.merge) return merge(cli, &options, &words);
  if (options.compare) return compare(cli, &options, &words);
  uint32_t shard = 1, shards = 1;
  char path[HEED_PATH_SIZE];
  code = check_words(&options, &words, &shard, &shards, path);
  return code >= 0 ? code : survey_words(cli, &options, &words, shard, shards);
}

const cli_verb cli_verb_survey = {"survey", "statistics of every head over many images", run};
