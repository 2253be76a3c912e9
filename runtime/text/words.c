/* What happens to a text before BPE: changes, then words. Sources: the patterns in openai/CLIP's
 * simple_tokenizer.py and openai/gpt-2's encoder.py, whose classes are Unicode's. */
#include <string.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "text/rules.h"

static bool replace(const heed_context *context, const heed_text_step *step,
                    const heed_points *from, heed_points *to) {
  heed_points what = {0}, with = {0};
  const bool spaces = step->change == HEED_TEXT_REPLACE_SPACES;
  bool done = heed_points_read(context, &what, step->what, strlen(step->what)) &&
              heed_points_read(context, &with, step->with, strlen(step->with));
  for (size_t i = 0; done && i < from->count;) {
    size_t end = i;
    if (spaces)
      while (end < from->count && heed_unicode_class(from->at[end]) == HEED_CHAR_SPACE) end++;
    else if (what.count && from->count - i >= what.count &&
             memcmp(from->at + i, what.at, what.count * sizeof *what.at) == 0)
      end = i + what.count;
    if (end == i)
      done = heed_points_add(context, to, from->at[i++]);
    else
      for (size_t k = 0; done && k < with.count; k++)
        done = heed_points_add(context, to, with.at[k]);
    if (end > i) i = end;
  }
  heed_free(context, what.at);
  heed_free(context, with.at);
  return done;
}

static bool lower(const heed_context *context, const heed_points *from, heed_points *to) {
  for (size_t i = 0; i < from->count; i++) {
    uint32_t points[2];
    const size_t count = heed_unicode_lower(from->at[i], points);
    for (size_t k = 0; k < count; k++)
      if (!heed_points_add(context, to, points[k])) return false;
  }
  return true;
}

bool heed_text_apply(const heed_tokenizer *t, heed_points *text, heed_ids *ids) {
  for (uint32_t i = 0; i < t->step_count; i++) {
    heed_points changed = {0};
    const heed_text_step *step = &t->steps[i];
    const bool done = step->change == HEED_TEXT_COMPOSE
                          ? heed_unicode_compose(t->context, text, &changed)
                      : step->change == HEED_TEXT_LOWER ? lower(t->context, text, &changed)
                                                        : replace(t->context, step, text, &changed);
    heed_free(t->context, text->at);
    *text = changed;
    if (!done) return false;
    if (text->count > ids->points.most - ids->points.spent) break;
  }
  return heed_budget_spend(&ids->points, text->count);
}

/* ---------------------------------------------------------------------------------------- words */

static heed_char_class class_at(const heed_points *text, size_t i) {
  return i < text->count ? heed_unicode_class(text->at[i]) : HEED_CHAR_SPACE;
}

static size_t run_end(const heed_points *text, size_t i) {
  const heed_char_class kind = class_at(text, i);
  while (i < text->count && class_at(text, i) == kind) i++;
  return i;
}

/* The length of 's, 't, 're, 've, 'm, 'll or 'd here; 0: none. */
static size_t short_form(const heed_points *text, size_t i) {
  static const char *const forms[] = {"s", "t", "re", "ve", "m", "ll", "d"};
  if (text->at[i] != '\'') return 0;
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    const size_t length = strlen(forms[f]);
    size_t k = 0;
    while (k < length && i + 1 + k < text->count && text->at[i + 1 + k] == (uint8_t)forms[f][k])
      k++;
    if (k == length) return 1 + length;
  }
  return 0;
}

static size_t clip_end(const heed_points *text, size_t i) {
  const size_t form = short_form(text, i);
  return form ? i + form : class_at(text, i) == HEED_CHAR_NUMBER ? i + 1 : run_end(text, i);
}

static size_t gpt2_end(const heed_points *text, size_t i) {
  const size_t form = short_form(text, i);
  if (form) return i + form;
  const size_t start = i + (text->at[i] == ' ');
  if (start < text->count && class_at(text, start) != HEED_CHAR_SPACE) return run_end(text, start);
  const size_t end = run_end(text, i); /* white space: its last character goes to the next word */
  return end < text->count && end - i > 1 ? end - 1 : end;
}

bool heed_text_word(heed_word_rule rule, const heed_points *text, size_t *first, size_t *end) {
  while (rule == HEED_WORDS_CLIP && *first < text->count &&
         class_at(text, *first) == HEED_CHAR_SPACE)
    ++*first;
  if (*first >= text->count) return false;
  *end = rule == HEED_WORDS_CLIP   ? clip_end(text, *first)
         : rule == HEED_WORDS_GPT2 ? gpt2_end(text, *first)
                                   : text->count;
  return true;
}
