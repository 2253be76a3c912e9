/* What heed judge found: a table, and JSON. */
#include "judging.h"
#include "terminal/json_out.h"
#include "terminal/standard_out.h"

void judge_print(const judging *j, const char *model) {
  printf("%s%s on %s (%s); %u pictures, target: %s\n", model ? "model " : "the demo model",
         model ? CLI_SHOWN(model) : "", heed_backend_name(j->choice->opened),
         CLI_SHOWN(heed_backend_device(j->choice->opened)), j->pictures,
         j->target ? CLI_SHOWN(j->target) : "each picture's largest logit");
  printf("%-12s", "map");
  for (uint32_t m = 0; m < JUDGE_METRICS; m++)
    if (j->wanted[m]) printf("  %17s", judge_metrics[m].name);
  printf("\n%-12s", "better:");
  for (uint32_t m = 0; m < JUDGE_METRICS; m++)
    if (j->wanted[m]) printf("  %17s", judge_metrics[m].better);
  printf("\n");
  for (uint32_t i = 0; i < j->map_count; i++) {
    printf("%-12s", j->maps[i].name);
    for (uint32_t m = 0; m < JUDGE_METRICS; m++) {
      const judge_number *of = &j->maps[i].numbers[m];
      if (j->wanted[m] && of->count) printf("  %7.4f +- %6.4f", of->mean, judge_interval(of));
      if (j->wanted[m] && !of->count) printf("  %17s", "-");
    }
    printf("\n");
  }
  printf("mean +- half of a 95 %% interval over the pictures\n");
}

static void json_metric(json_out *json, const judging *j, const judge_map *map, uint32_t m) {
  const judge_number *of = &map->numbers[m];
  json_open(json, NULL, '{');
  json_text(json, "name", judge_metrics[m].name);
  json_number(json, "mean", of->mean);
  json_number(json, "interval", judge_interval(of));
  json_integer(json, "count", of->count);
  if (map->curves[m]) {
    json_open(json, "curve", '[');
    for (uint32_t k = 0; k <= j->steps; k++)
      json_number(json, NULL, map->curves[m][k] / j->pictures);
    json_close(json, ']');
  }
  json_close(json, '}');
}

heed_status judge_write_json(void *user, FILE *to, heed_error *error) {
  const judging *j = user;
  json_out json = {.file = to};
  (void)error; /* cli_output_write reports writes that fail */
  json_begin(&json);
  json_text(&json, "backend", heed_backend_device(j->choice->opened));
  json_integer(&json, "pictures", j->pictures);
  if (j->target) json_text(&json, "target", j->target);
  json_integer(&json, "steps", j->steps);
  json_open(&json, "maps", '[');
  for (uint32_t i = 0; i < j->map_count; i++) {
    json_open(&json, NULL, '{');
    json_text(&json, "name", j->maps[i].name);
    json_open(&json, "metrics", '[');
    for (uint32_t m = 0; m < JUDGE_METRICS; m++)
      if (j->wanted[m]) json_metric(&json, j, &j->maps[i], m);
    json_close(&json, ']');
    json_close(&json, '}');
    fputc('\n', to);
  }
  json_close(&json, ']');
  json_close(&json, '}');
  fputc('\n', to);
  return HEED_OK;
}
