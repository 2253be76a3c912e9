/* Two surveys in a page. See compare.h. */
#include <stdlib.h>

#include "compare.h"

static void write_survey(const survey_page *page, const char *name, const char *path,
                         const survey_identity *of) {
  fprintf(page->file, "<tr><th class=\"t\">%s</th><td class=\"t\">", name);
  survey_page_text(page, path);
  fputs("</td><td class=\"t\">", page->file);
  survey_page_text(page, *of->model ? of->model : "the demo model");
  fputs("</td></tr>\n", page->file);
}

static void write_scatter(const survey_page *page, const survey_comparison *of) {
  const size_t count = survey_heads(&of->a.shape);
  survey_dot *dots = calloc(count + 1, sizeof *dots);
  for (size_t i = 0; dots && i < count; i++)
    dots[i] = (survey_dot){.place = survey_place_of(&of->sums_b, i),
                           .from = survey_place_of(&of->sums_a, i),
                           .layer = (uint32_t)(i / of->a.shape.heads),
                           .head = (uint32_t)(i % of->a.shape.heads)};
  if (dots && of->sums_a.mapped && of->sums_b.mapped) {
    fputs("<h2>Heads</h2>\n<p>A dot is a head in B; its line comes from where it is in A.</p>\n",
          page->file);
    survey_page_scatter(page, dots, count, of->a.shape.layers, true);
  }
  free(dots);
}

static void write_moved(const survey_page *page, const survey_comparison *of) {
  const size_t moved = survey_comparison_moved(of);
  fprintf(
      page->file,
      "<h2>What moved</h2>\n<p>%zu of %zu statistics of heads moved, by paired t-tests over %lld "
      "images of both (p &lt; %g, corrected for all heads and statistics by Holm).</p>\n",
      moved, survey_heads(&of->a.shape) * SURVEY_STATISTICS, (long long)of->pairs.count,
      SURVEY_LEVEL);
  if (!moved) return;
  fputs("<div class=\"scroll\"><table><thead><tr><th>head</th><th "
        "class=\"t\">statistic</th><th>A</th><th>B</th><th>change ± standard "
        "deviation</th><th>t</th><th>adjusted p</th></tr></thead><tbody>\n",
        page->file);
  for (size_t i = 0; i < moved; i++) {
    const size_t at = of->order[i], head = at / SURVEY_STATISTICS,
                 statistic = at % SURVEY_STATISTICS;
    fprintf(page->file,
            "<tr><th>%zu.%zu</th><td class=\"t\">%s</td><td>%.4g</td><td>%.4g</td><td>%+.4g ± "
            "%.2g</td><td>%.3g</td><td>%.2g</td></tr>\n",
            head / of->a.shape.heads, head % of->a.shape.heads, survey_statistics[statistic].name,
            survey_sums_summary(&of->sums_a, head, statistic).mean,
            survey_sums_summary(&of->sums_b, head, statistic).mean, of->pairs.mean[at],
            of->pairs.spread[at], of->t[at], of->p[at]);
  }
  fputs("</tbody></table></div>\n", page->file);
}

heed_status survey_write_comparison(void *user, FILE *to, heed_error *error) {
  const survey_comparison *of = user;
  survey_page page = {to, error};
  survey_page_begin(&page, "Two surveys of attention");
  fputs("<table>\n", to);
  write_survey(&page, "A", of->path_a, &of->a);
  write_survey(&page, "B", of->path_b, &of->b);
  fputs("</table>\n", to);
  write_scatter(&page, of);
  write_moved(&page, of);
  survey_page_end(&page);
  return HEED_OK;
}
