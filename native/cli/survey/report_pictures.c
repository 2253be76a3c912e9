/* Typical and untypical pictures in a survey's page. See report.h. */
#include <stdlib.h>
#include <string.h>

#include "files/names.h"
#include "report.h"

/* Each picture once, as the background of a class. */
static heed_status write_backgrounds(const survey_page *page, const survey_examples *examples) {
  heed_status status = HEED_OK;
  fputs("<style>\n", page->file);
  for (size_t i = 0; i < examples->count && status == HEED_OK; i++) {
    const survey_shot *shot = &examples->shots[i];
    if (!shot->rgb) continue;
    fprintf(page->file, ".p%zu{background-image:url(", i);
    status = survey_page_png(page, shot->rgb, shot->width, shot->height, 3);
    fputs(")}\n", page->file);
  }
  fputs("</style>\n", page->file);
  return status;
}

static heed_status write_overlay(const survey_page *page, const survey_shot *shot,
                                 const float *weights, uint32_t prefix, const char *alt) {
  const uint32_t patches = shot->rows * shot->columns;
  const uint32_t tokens = prefix + patches;
  const float least = (tokens > 4 ? 4.0f : (float)tokens) / (float)tokens;
  uint8_t *rgba = malloc((size_t)patches * 4 + 1);
  float *own = malloc((size_t)patches * sizeof *own + 1), largest = 0.0f;
  if (!rgba || !own) {
    free(rgba);
    free(own);
    return heed_fail_memory(page->error, "report", (size_t)patches * 4);
  }
  for (uint32_t i = 0; i < patches; i++)
    if (weights[i] > largest) largest = weights[i];
  /* the scale of overlays ends at `least` or above; here it ends at the largest weight */
  for (uint32_t i = 0; i < patches; i++)
    own[i] = largest > 0.0f ? weights[i] / largest * least : 0.0f;
  heed_map_overlay(HEED_COLORMAP_VIRIDIS, own, patches, tokens, rgba);
  free(own);
  fprintf(page->file, "<img alt=\"%s\" src=\"", alt);
  const heed_status status = survey_page_png(page, rgba, shot->columns, shot->rows, 4);
  fputs("\">", page->file);
  free(rgba);
  return status;
}

static const char *last_part(const char *path) {
  const char *name = heed_last_name(path);
  return *name ? name : path;
}

static heed_status write_shot(const survey_page *page, const survey_report *report, size_t head,
                              const survey_example *example) {
  const survey_facts *facts = report->results->facts;
  const uint32_t prefix = report->results->sums->shape.prefix;
  const size_t at = survey_facts_find(facts, example->picture);
  heed_status status = HEED_OK;
  if (at == facts->name_count) return HEED_OK;
  const survey_shot *shot = &report->examples->shots[at];
  const size_t patches = (size_t)shot->rows * shot->columns;
  fputs("<figure>", page->file);
  for (int kind = 0; kind < (shot->maps && prefix ? 2 : 1) && status == HEED_OK; kind++) {
    fprintf(page->file, "<span class=\"s p%zu\">", at);
    if (shot->maps)
      status = write_overlay(page, shot, shot->maps + (2 * head + (size_t)kind) * patches, prefix,
                             kind ? "from the first token" : "from patches");
    fputs("</span>", page->file);
  }
  fputs("<figcaption>", page->file);
  survey_page_text(page, last_part(facts->names[at].path));
  fprintf(page->file, "<br>%.4g%s</figcaption></figure>\n", example->value,
          shot->rgb ? "" : " (no longer readable)");
  return status;
}

static heed_status write_kind(const survey_page *page, const survey_report *report, size_t head,
                              int kind) {
  const survey_typical *typical = &report->results->facts->typical;
  const survey_example *examples = survey_typical_of(typical, head, kind);
  heed_status status = HEED_OK;
  fprintf(page->file, "<h3>%s</h3><div class=\"shots\">\n",
          kind ? "farthest from the mean" : "closest to the mean");
  for (uint32_t i = 0; i < typical->found && status == HEED_OK; i++)
    status = write_shot(page, report, head, &examples[i]);
  fputs("</div>", page->file);
  return status;
}

static heed_status write_head(const survey_page *page, const survey_report *report, size_t head) {
  const survey_sums *sums = report->results->sums;
  const survey_place place = survey_place_of(sums, head);
  fprintf(page->file, "<tr><th>%zu.%zu<br><span class=\"q\">%s</span></th><td class=\"t\">",
          head / sums->shape.heads, head % sums->shape.heads,
          sums->mapped ? survey_habit_names[survey_habit_of(&place)] : "");
  heed_status status = write_kind(page, report, head, 0);
  fputs("</td><td class=\"t\">", page->file);
  if (status == HEED_OK) status = write_kind(page, report, head, 1);
  fputs("</td></tr>\n", page->file);
  return status;
}

heed_status survey_report_pictures(const survey_page *page, const survey_report *report) {
  const survey_typical *typical = &report->results->facts->typical;
  const survey_shape *shape = &report->results->sums->shape;
  bool maps = false;
  fputs("<h2>Typical images</h2>\n", page->file);
  if (!typical->found) {
    fputs("<p>The survey has no rows of heads.</p>\n", page->file);
    return HEED_OK;
  }
  for (size_t i = 0; i < report->examples->count; i++)
    maps = maps || report->examples->shots[i].maps;
  fprintf(page->file,
          "<p>Images whose <b>%s</b> is the closest to the mean of the head, and those "
          "farthest from it, with the value.",
          survey_statistics[typical->statistic].name);
  if (maps)
    fprintf(page->file,
            " Over an image lies the largest weight that another patch gives to each patch%s. Each "
            "map ends at its "
            "largest value.",
            shape->prefix ? "; below it what the first token (CLS) gives" : "");
  else
    fputs(
        " The command that made the survey, with --resume and --report, also draws where each head "
        "looks.",
        page->file);
  fputs("</p>\n", page->file);
  heed_status status = write_backgrounds(page, report->examples);
  fputs("<div class=\"scroll\"><table>\n", page->file);
  for (size_t head = 0; head < survey_heads(shape) && status == HEED_OK; head++)
    status = write_head(page, report, head);
  fputs("</table></div>\n", page->file);
  return status;
}
