/* Files of a survey. See outputs.h. */
#include "outputs.h"

#include <string.h>

#include "report.h"
#include "save.h"
#include "terminal/standard_out.h"

heed_status survey_outputs_check(cli_state *cli, const survey_outputs *outputs, size_t *statistic) {
  const char *by = outputs->by ? outputs->by : SURVEY_BY;
  char known[256] = "";
  for (*statistic = 0; *statistic < SURVEY_STATISTICS; ++*statistic)
    if (strcmp(by, survey_statistics[*statistic].name) == 0) break;
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", s ? ", " : "",
             survey_statistics[s].name);
  if (*statistic == SURVEY_STATISTICS)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--by: unknown statistic (found %.100s, expected one of %s)", by, known);
  return outputs->typical >= 1 && outputs->typical <= SURVEY_MOST_TYPICAL
             ? HEED_OK
             : heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                         "--typical: wrong number of images (found %u, expected 1 to %d)",
                         outputs->typical, SURVEY_MOST_TYPICAL);
}

heed_status survey_outputs_add_paths(cli_state *cli, const survey_outputs *outputs,
                                     cli_paths *paths) {
  CLI_TRY(cli_paths_add(cli, paths, CLI_WRITTEN, "--json", outputs->json));
  CLI_TRY(cli_paths_add(cli, paths, CLI_WRITTEN, "--report", outputs->report));
  return cli_paths_add(cli, paths, CLI_WRITTEN, "--save", outputs->save);
}

static heed_status write_report(cli_state *cli, const char *path, const survey_results *results,
                                survey_examples_desc pictures) {
  survey_examples examples = {0};
  survey_report report = {results, &examples};
  pictures.facts = results->facts;
  pictures.shape = &results->sums->shape;
  heed_status status = survey_examples_make(cli, &pictures, &examples);
  if (status == HEED_OK) status = cli_output_write(path, survey_write_report, &report, &cli->error);
  survey_examples_free(&examples);
  return status;
}

heed_status survey_outputs_write(cli_state *cli, const survey_outputs *outputs,
                                 const survey_results *results, survey_examples_desc pictures) {
  if (outputs->report) {
    CLI_TRY(write_report(cli, outputs->report, results, pictures));
    printf("report: %s\n", CLI_SHOWN(outputs->report));
  }
  if (outputs->save) {
    CLI_TRY(survey_save(cli, results->sums, outputs->save));
    printf("tensors: %s\n", CLI_SHOWN(outputs->save));
  }
  if (!outputs->json) return HEED_OK;
  survey_results to_write = *results;
  CLI_TRY(cli_output_write(outputs->json, survey_write_json, &to_write, &cli->error));
  printf("JSON: %s\n", CLI_SHOWN(outputs->json));
  return HEED_OK;
}
