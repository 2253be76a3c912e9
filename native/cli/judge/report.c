/* What heed judge found: a table, and JSON. */
#include <math.h>

#include "judging.h"
#include "terminal/json_out.h"
#include "terminal/standard_out.h"

/* Pictures for which a metric is no number, as mass of a map whose sum is not above 0. */
static void print_left_out(const judging *j) {
  for (uint32_t m = 0; m < JUDGE_METRICS; m++)
    for (uint32_t i = 0; j->wanted[m] && i < j->map_count; i++) {
      const uint64_t count = j->maps[i].numbers[m].count;
      if (count < j->pictures)
        printf("%s of %s: %llu of %u pictures are left out, as it is no number there\n",
               judge_metrics[m].name, j->maps[i].name, (unsigned long long)(j->pictures - count),
               j->pictures);
    }
}

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
  print_left_out(j);
}

static void json_metric(json_out *json, const judging *j, const judge_map *map, uint32_t m) {
  const judge_number *of = &map->numbers[m];
  json_open(json, NULL, '{');
  json_text(json, "name", judge_metrics[m].name);
  json_number(json, "mean", of->count ? of->mean : (double)NAN);
  json_number(json, "interval", of->count ? judge_interval(of) : (double)NAN);
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
