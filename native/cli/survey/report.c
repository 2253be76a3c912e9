/* The page of a survey. See report.h. */
#include "report.h"

#include <stdlib.h>

static void write_fact(const survey_page *page, const char *name, const char *value) {
  fprintf(page->file, "<tr><th class=\"t\">%s</th><td class=\"t\">", name);
  survey_page_text(page, value);
  fputs("</td></tr>\n", page->file);
}

static void write_count(const survey_page *page, const char *name, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  write_fact(page, name, text);
}

static void write_identity(const survey_page *page, const survey_results *of) {
  const survey_shape *shape = &of->sums->shape;
  char grid[96];
  snprintf(grid, sizeof grid,
           "%u layers of %u heads; %u x %u patches; tokens before the patches: %u", shape->layers,
           shape->heads, shape->rows, shape->columns, shape->prefix);
  fputs("<table>", page->file);
  write_fact(page, "model", of->model ? of->model : "the demo model");
  write_fact(page, "family", of->family);
  write_fact(page, "attention", grid);
  write_fact(page, "device", of->device);
  write_count(page, "images", of->sums->pictures);
  write_count(page, "of the model's grid", of->sums->mapped);
  if (of->sums->twin_pictures) write_count(page, "scenes with twins", of->sums->twin_pictures);
  write_count(page, "images that could not be read", of->failed);
  fputs("</table>\n", page->file);
}

static void write_classes(const survey_page *page, const survey_results *of) {
  const survey_facts *facts = of->facts;
  const double all = (double)of->sums->pictures;
  if (!facts->class_count) return;
  fputs("<h2>Classes</h2>\n<p>How often each class had the largest logit.</p>\n<div "
        "class=\"scroll\"><table><thead><tr><th class=\"t\">class</th><th>images</th><th>share</th>"
        "<th></th></tr></thead><tbody>\n",
        page->file);
  for (size_t i = 0; i < facts->class_count && i < 40; i++) {
    const survey_class *class_ = &facts->classes[i];
    const double share = (double)class_->pictures / all;
    fprintf(page->file, "<tr><td class=\"t\">%lld ", (long long)class_->index);
    if (class_->name) survey_page_text(page, class_->name);
    fprintf(page->file,
            "</td><td>%lld</td><td>%.1f %%</td><td class=\"t\"><span class=\"b\" "
            "style=\"width:%.1fpx\"></span></td></tr>\n",
            (long long)class_->pictures, 100.0 * share, 400.0 * share);
  }
  fputs("</tbody></table></div>\n", page->file);
  if (facts->class_count > 40)
    fprintf(page->file, "<p>%zu more classes are not shown.</p>\n", facts->class_count - 40);
}

static void write_failures(const survey_page *page, const survey_results *of) {
  const survey_facts *facts = of->facts;
  if (!of->failed) return;
  fputs("<h2>Images that could not be read</h2>\n<ul>\n", page->file);
  for (size_t i = 0; i < facts->failure_count; i++) {
    fputs("<li>", page->file);
    survey_page_text(page, facts->failures[i].why);
    fputs("</li>\n", page->file);
  }
  fputs("</ul>\n", page->file);
  if (of->failed > (int64_t)facts->failure_count)
    fprintf(page->file, "<p>%lld more are in the file.</p>\n",
            (long long)of->failed - (long long)facts->failure_count);
}

heed_status survey_write_report(void *user, FILE *to, heed_error *error) {
  const survey_report *report = user;
  const survey_results *of = report->results;
  survey_page page = {to, error};
  survey_page_begin(&page, "Survey of attention");
  write_identity(&page, of);
  survey_report_heads(&page, of->sums);
  heed_status status = survey_report_maps(&page, of->sums);
  if (status == HEED_OK) status = survey_report_methods(&page, of->sums);
  if (status == HEED_OK) status = survey_report_pictures(&page, report);
  if (status == HEED_OK) status = survey_report_layers(&page, of->sums);
  if (status != HEED_OK) return status;
  write_classes(&page, of);
  survey_report_table(&page, of->sums);
  write_failures(&page, of);
  survey_page_end(&page);
  return HEED_OK;
}
