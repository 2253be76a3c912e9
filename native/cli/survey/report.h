/* A survey as a page of HTML that holds all it shows. */
#ifndef HEED_CLI_SURVEY_REPORT_H
#define HEED_CLI_SURVEY_REPORT_H

#include "examples.h"
#include "page.h"
#include "results.h"

typedef struct survey_report {
  const survey_results *results; /* with facts */
  const survey_examples *examples;
} survey_report;

/* A heed_file_writer of `const survey_report`. */
heed_status survey_write_report(void *report, FILE *to, heed_error *error);

/* Sections of the page. */
void survey_report_heads(const survey_page *page, const survey_sums *sums);
heed_status survey_report_maps(const survey_page *page, const survey_sums *sums);
heed_status survey_report_methods(const survey_page *page, const survey_sums *sums);
heed_status survey_report_layers(const survey_page *page, const survey_sums *sums);
void survey_report_table(const survey_page *page, const survey_sums *sums);
heed_status survey_report_pictures(const survey_page *page, const survey_report *report);

#endif
