/* The heads of a survey in its page: where they look, and their statistics. See report.h. */
#include <math.h>
#include <stdlib.h>

#include "report.h"

static double strength(const survey_place *place, survey_habit habit) {
  return habit == SURVEY_TWINS ? place->twins : habit == SURVEY_POSITIONAL ? place->share : 0.0;
}

/* By habit, the most pronounced first. */
static int by_habit(const void *a, const void *b) {
  const survey_dot *x = a, *y = b;
  const survey_habit of = survey_habit_of(&x->place), other = survey_habit_of(&y->place);
  const double more = strength(&x->place, of), than = strength(&y->place, other);
  if (of != other) return of < other ? -1 : 1;
  if (more < than || more > than) return more > than ? -1 : 1;
  return x->layer != y->layer ? (x->layer > y->layer) - (x->layer < y->layer)
                              : (x->head > y->head) - (x->head < y->head);
}

static void write_offset(const survey_page *page, const survey_place *place) {
  const char *separator = "";
  if (!place->row && !place->column) fputs("itself", page->file);
  if (place->row) {
    fprintf(page->file, "%d %s", abs(place->row), place->row < 0 ? "up" : "down");
    separator = ", ";
  }
  if (place->column)
    fprintf(page->file, "%s%d %s", separator, abs(place->column),
            place->column < 0 ? "left" : "right");
}

static void list_habit(const survey_page *page, const survey_dot *dots, size_t count,
                       survey_habit habit) {
  size_t listed = 0;
  for (size_t i = 0; i < count; i++) {
    const survey_place *place = &dots[i].place;
    if (survey_habit_of(place) != habit) continue;
    fprintf(page->file, "%s<b>%u.%u</b>", listed++ ? ", " : "", dots[i].layer, dots[i].head);
    if (habit == SURVEY_TWINS) fprintf(page->file, " (%.1f ×)", place->twins);
    if (habit != SURVEY_POSITIONAL) continue;
    fprintf(page->file, " (%.0f %%, ", 100.0 * place->share);
    write_offset(page, place);
    fputc(')', page->file);
  }
  if (!listed) fputs("none", page->file);
}

static const char *const habit_words[SURVEY_HABITS] = {
    "In scenes, such a head looks from a shape to its twin, the other one of the same form: from "
    "the "
    "patches of one to those of the other it gives 8 × or more of what uniform attention gives. A "
    "head that looks at all other shapes alike gives 4 ×.",
    "The offset between patches explains 20 % or more of how their weights differ. Such a head "
    "looks a fixed step away, whatever the image shows: most to the place that stands with it.",
    "The offset explains less than 5 %, and the head looks at 8 × uniform or sharper. Where it "
    "looks is chosen by what is there.",
    "Weights are spread below 4 × uniform. Such a head takes a mean over much of the image.",
    "None of these."};

static void write_habits(const survey_page *page, survey_dot *dots, size_t count, bool scenes) {
  qsort(dots, count, sizeof *dots, by_habit);
  fputs("<table>\n", page->file);
  for (int habit = scenes ? 0 : SURVEY_POSITIONAL; habit < SURVEY_HABITS; habit++) {
    fprintf(page->file, "<tr><th class=\"t\">%s</th><td class=\"t\">%s</td><td class=\"t\">",
            survey_habit_names[habit], habit_words[habit]);
    list_habit(page, dots, count, (survey_habit)habit);
    fputs("</td></tr>\n", page->file);
  }
  fputs("<tr><th class=\"t\">at rest</th><td class=\"t\">Half of the weight or more lies on the "
        "tokens before the patches (CLS, registers). Such a head may also be one of the above, for "
        "the few patches that look elsewhere.</td><td class=\"t\">",
        page->file);
  size_t listed = 0;
  for (size_t i = 0; i < count; i++)
    if (dots[i].place.prefix >= 0.5)
      fprintf(page->file, "%s<b>%u.%u</b>", listed++ ? ", " : "", dots[i].layer, dots[i].head);
  fprintf(page->file, "%s</td></tr>\n</table>\n", listed ? "" : "none");
}

void survey_report_heads(const survey_page *page, const survey_sums *sums) {
  const size_t count = survey_heads(&sums->shape);
  survey_dot *dots = calloc(count + 1, sizeof *dots);
  fputs("<h2>Heads</h2>\n", page->file);
  if (!sums->mapped || !dots) {
    fputs("<p>No image has the grid of the model, so that no mean maps were gathered.</p>\n",
          page->file);
    free(dots);
    return;
  }
  for (size_t i = 0; i < count; i++)
    dots[i] = (survey_dot){.place = survey_place_of(sums, i),
                           .layer = (uint32_t)(i / sums->shape.heads),
                           .head = (uint32_t)(i % sums->shape.heads)};
  fputs(
      "<p>A dot is a head, layer.head, darker in early layers. To the right are heads that look by "
      "place, at the upper left those that look by content. A dot without room for a label has its "
      "name under the pointer.</p>\n",
      page->file);
  survey_page_scatter(page, dots, count, sums->shape.layers, false);
  write_habits(page, dots, count, sums->twin_pictures > 0);
  free(dots);
}

/* ------------------------------------------------------------------------------------------ maps
 */

/* Grey where too few patches have the offset. */
static heed_status offset_map(const survey_page *page, const survey_sums *sums, size_t head,
                              double *weights) {
  const survey_shape *shape = &sums->shape;
  const survey_place place = survey_place_of(sums, head);
  const uint32_t rows = 2 * shape->rows - 1, columns = 2 * shape->columns - 1;
  const double tokens = (double)survey_tokens(shape);
  survey_mean_by_offset(sums, head, weights);
  for (size_t i = 0; i < survey_offsets(shape); i++)
    if (4.0 * survey_offset_pairs(shape, (int64_t)(i / columns) - (shape->rows - 1),
                                  (int64_t)(i % columns) - (shape->columns - 1)) <
        (double)survey_patches(shape))
      weights[i] = (double)NAN;
  const heed_status status =
      survey_page_map(page, weights, rows, columns, place.peak, "m", "mean weight by offset");
  fprintf(page->file, "%.1f × ", place.peak * tokens);
  write_offset(page, &place);
  fprintf(page->file, "<br>%.0f %% by place", 100.0 * place.share);
  return status;
}

static heed_status first_map(const survey_page *page, const survey_sums *sums, size_t head,
                             double *weights) {
  const survey_shape *shape = &sums->shape;
  const size_t tokens = survey_tokens(shape);
  double largest = 0.0, mass = 0.0;
  survey_mean_first_row(sums, head, weights);
  for (size_t i = shape->prefix; i < tokens; i++) {
    mass += weights[i];
    if (weights[i] > largest) largest = weights[i];
  }
  const heed_status status = survey_page_map(page, weights + shape->prefix, shape->rows,
                                             shape->columns, largest, "m", "mean row of CLS");
  fprintf(page->file, "%.1f ×<br>%.0f %% on patches", largest * (double)tokens, 100.0 * mass);
  return status;
}

static survey_habit habit_of(const survey_sums *sums, size_t head) {
  const survey_place place = survey_place_of(sums, head);
  return survey_habit_of(&place);
}

static heed_status write_grid(const survey_page *page, const survey_sums *sums, double *weights,
                              heed_status (*map)(const survey_page *, const survey_sums *, size_t,
                                                 double *)) {
  heed_status status = HEED_OK;
  fputs("<div class=\"scroll\"><table class=\"maps\">\n", page->file);
  for (uint32_t layer = 0; layer < sums->shape.layers && status == HEED_OK; layer++) {
    fputs("<tr>", page->file);
    for (uint32_t head = 0; head < sums->shape.heads && status == HEED_OK; head++) {
      fputs("<td>", page->file);
      status = map(page, sums, (size_t)layer * sums->shape.heads + head, weights);
      fprintf(page->file, "<br><b>%u.%u</b> %s</td>", layer, head,
              survey_habit_names[habit_of(sums, (size_t)layer * sums->shape.heads + head)]);
    }
    fputs("</tr>\n", page->file);
  }
  fputs("</table></div>\n", page->file);
  return status;
}

heed_status survey_report_maps(const survey_page *page, const survey_sums *sums) {
  const size_t most = survey_offsets(&sums->shape) + survey_tokens(&sums->shape);
  if (!sums->mapped) return HEED_OK;
  double *weights = calloc(most, sizeof *weights);
  if (!weights) return heed_fail_memory(page->error, "report", most * sizeof *weights);
  fputs(
      "<h2>Mean maps by offset</h2>\n<p>The query is in the middle. A pixel is the mean weight on "
      "the patch that lies so many rows and columns further. Each map ends at its largest value, "
      "which stands below it in × uniform, with its offset. Grey: fewer than a quarter of the "
      "patches have such a neighbour.</p>\n",
      page->file);
  heed_status status = write_grid(page, sums, weights, offset_map);
  if (status == HEED_OK && sums->shape.prefix) {
    fputs("<h2>Mean maps of the first token</h2>\n<p>Where the first token (CLS) looks, mean over "
          "images. Each map ends at its largest value, which stands below it in × uniform.</p>\n",
          page->file);
    status = write_grid(page, sums, weights, first_map);
  }
  free(weights);
  return status;
}

/* Zero is in the middle of the colours, as maps have signs. */
static heed_status method_map(const survey_page *page, const survey_sums *sums, size_t map,
                              double *weights) {
  const size_t patches = survey_patches(&sums->shape);
  double largest = 0.0;
  for (size_t p = 0; p < patches; p++) {
    weights[p] = survey_sums_map(sums, map, p);
    if (fabs(weights[p]) > largest) largest = fabs(weights[p]);
  }
  for (size_t p = 0; p < patches; p++) weights[p] += largest;
  const heed_status status = survey_page_map(page, weights, sums->shape.rows, sums->shape.columns,
                                             2.0 * largest, "m", "mean map of a method");
  fprintf(page->file, "± %.3g", largest);
  return status;
}

heed_status survey_report_methods(const survey_page *page, const survey_sums *sums) {
  const size_t patches = survey_patches(&sums->shape);
  heed_status status = HEED_OK;
  size_t map = 0;
  if (!sums->shape.maps || !sums->mapped) return HEED_OK;
  double *weights = calloc(patches, sizeof *weights);
  if (!weights) return heed_fail_memory(page->error, "report", patches * sizeof *weights);
  fputs(
      "<h2>What answers rest on</h2>\n<p>Mean maps of methods over images, for each image's class "
      "with the largest logit (docs/explain.md). The middle colour is 0; a map ends at the number "
      "below it on both sides.</p>\n<div class=\"scroll\"><table class=\"maps\"><tr>\n",
      page->file);
  for (uint32_t i = 0; i < SURVEY_MOST_MAPS && status == HEED_OK; i++) {
    if (!(sums->shape.maps >> i & 1)) continue;
    fputs("<td>", page->file);
    status = method_map(page, sums, map++, weights);
    fprintf(page->file, "<br><b>%s</b></td>", heed_patch_map_name(i));
  }
  fputs("</tr></table></div>\n", page->file);
  free(weights);
  return status;
}

/* ----------------------------------------------------------------------------------------- numbers
 */

void survey_report_table(const survey_page *page, const survey_sums *sums) {
  fputs("<h2>Statistics</h2>\n<p>Mean ± standard deviation over images; below it the quantiles 5 % "
        "to 95 %. Entropies in nats, distances in pixels, masses in shares of a row.",
        page->file);
  if (sums->twin_pictures)
    fputs(" Last, from twin to twin in × uniform, over scenes; below it the least and the largest.",
          page->file);
  fputs("</p>\n<div class=\"scroll\"><table><thead><tr><th>head</th>", page->file);
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    fprintf(page->file, "<th>%s</th>", survey_statistics[s].name);
  if (sums->twin_pictures) fputs("<th>" SURVEY_TWIN_WEIGHT "</th>", page->file);
  fputs("</tr></thead><tbody>\n", page->file);
  for (size_t h = 0; h < survey_heads(&sums->shape); h++) {
    fprintf(page->file, "<tr><th>%zu.%zu</th>", h / sums->shape.heads, h % sums->shape.heads);
    for (size_t s = 0; s < SURVEY_STATISTICS; s++) {
      const survey_summary of = survey_sums_summary(sums, h, s);
      fprintf(page->file, "<td>%.3g ± %.2g<br><span class=\"q\">%.3g – %.3g</span></td>", of.mean,
              of.spread, survey_sums_quantile(sums, h, s, 0.05),
              survey_sums_quantile(sums, h, s, 0.95));
    }
    const survey_summary of = survey_sums_twins(sums, h);
    if (sums->twin_pictures)
      fprintf(page->file, "<td>%.3g ± %.2g<br><span class=\"q\">%.3g – %.3g</span></td>", of.mean,
              of.spread, of.least, of.largest);
    fputs("</tr>\n", page->file);
  }
  fputs("</tbody></table></div>\n", page->file);
}

static heed_status write_layer(const survey_page *page, const survey_sums *sums, uint32_t layer,
                               double *map) {
  const survey_states *states = &sums->states;
  const size_t patches = survey_patches(&sums->shape), prefix = sums->shape.prefix;
  double most = 0.0, largest = 0.0;
  fprintf(page->file, "<tr><th>%u</th>", layer);
  for (int n = 0; n < SURVEY_NORMS; n++) {
    const survey_summary of = survey_states_summary(states, layer, n);
    fprintf(page->file, "<td>%.4g ± %.2g<br><span class=\"q\">%.4g – %.4g</span></td>", of.mean,
            of.spread, of.least, of.largest);
  }
  for (size_t p = 0; states->mapped && p < patches; p++) {
    map[p] = survey_states_norm(states, layer * survey_tokens(&sums->shape) + prefix + p);
    map[patches + p] = survey_states_share(states, layer * patches + p);
    if (map[p] > most) most = map[p];
    if (map[patches + p] > largest) largest = map[patches + p];
  }
  if (!states->mapped) {
    fputs("</tr>\n", page->file);
    return HEED_OK;
  }
  fputs("<td>", page->file);
  heed_status status = survey_page_map(page, map, sums->shape.rows, sums->shape.columns, most, "m",
                                       "mean norm of each patch");
  fprintf(page->file, "to %.4g</td><td>", most);
  if (status == HEED_OK && largest > 0.0)
    status = survey_page_map(page, map + patches, sums->shape.rows, sums->shape.columns, largest,
                             "m", "how often each patch stands out");
  fprintf(page->file, "to %.1f %%</td></tr>\n", 100.0 * largest);
  return status;
}

heed_status survey_report_layers(const survey_page *page, const survey_sums *sums) {
  const size_t patches = survey_patches(&sums->shape);
  heed_status status = HEED_OK;
  if (!sums->states.pictures) return HEED_OK;
  double *map = calloc(2 * patches + 1, sizeof *map);
  if (!map) return heed_fail_memory(page->error, "report", 2 * patches * sizeof *map);
  fputs(
      "<h2>Layers</h2>\n<p>Euclidean norms of the states after each layer: mean ± standard "
      "deviation, least and largest over images. A patch stands out where its norm is above the "
      "median plus 6 × 1.4826 × the median distance from it. The maps have mean norms, and in "
      "which share of images a patch stands out.</p>\n<div class=\"scroll\"><table><thead><tr>"
      "<th>layer</th><th>mean of patches</th><th>first token</th><th>largest token</th><th>patches "
      "that stand out</th><th>norms</th><th>where they stand out</th></tr></thead><tbody>\n",
      page->file);
  for (uint32_t layer = 0; layer < sums->shape.layers && status == HEED_OK; layer++)
    status = write_layer(page, sums, layer, map);
  fputs("</tbody></table></div>\n", page->file);
  free(map);
  return status;
}
