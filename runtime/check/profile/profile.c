/* heed_check_profile: cases, reference, heed, and which question came out how. */
#include "check/profile/profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "check/close.h"

static const heed_profile *const profiles[] = {&heed_profile_onnx, &heed_profile_torch,
                                               &heed_profile_keras};

const char *heed_profile_name(uint32_t index) {
  return index < sizeof profiles / sizeof *profiles ? profiles[index]->name : NULL;
}

typedef struct checker {
  heed_context *context;
  heed_backend *backend;
  const heed_profile *profile;
  double tolerance;
  heed_profile_take take;
  void *take_user;
  heed_profile_result *result;
} checker;

typedef enum profile_verdict { PASSED, STATED, WRONG } profile_verdict;

/* -------------------------------------------------------------------------------------- compare */

static bool is_close(const checker *k, const profile_case *c, double found, double expected) {
  const heed_dtype dtype = profile_is(c, PRECISION, PRECISION_F16)    ? HEED_F16
                           : profile_is(c, PRECISION, PRECISION_BF16) ? HEED_BF16
                                                                      : HEED_F32;
  const heed_check_tolerance tolerance = {k->tolerance, k->tolerance};
  return heed_check_is_close(dtype, found, heed_check_round(dtype, expected), tolerance);
}

/* The first element that differs; count: none does. */
static size_t find_wrong(const checker *k, const profile_case *c, const float *found,
                         const double *expected, size_t count) {
  size_t e = 0;
  while (e < count && is_close(k, c, (double)found[e], expected[e])) e++;
  return e;
}

static bool is_right(const checker *k, const profile_case *c, const profile_found *found,
                     const profile_expected *expected) {
  const size_t outputs = profile_output_count(c),
               scores = profile_is(c, OUTPUT, OUTPUT_NONE) ? 0 : profile_scores_count(c);
  return find_wrong(k, c, found->output, expected->output, outputs) == outputs &&
         find_wrong(k, c, found->scores, expected->scores, scores) == scores;
}

static void complain(const checker *k, const profile_case *c, const profile_found *found,
                     const profile_expected *expected) {
  char what[320], sentence[480];
  if (!k->take) return;
  profile_case_describe(c, what, sizeof what);
  const size_t count = profile_output_count(c);
  size_t at = find_wrong(k, c, found->output, expected->output, count);
  const bool scores = at == count;
  if (scores) at = find_wrong(k, c, found->scores, expected->scores, profile_scores_count(c));
  snprintf(sentence, sizeof sentence, "%s: %s: element %zu differs (found %.9g, expected %.9g)",
           what, scores ? "scores" : "output", at,
           (double)(scores ? found->scores[at] : found->output[at]),
           scores ? expected->scores[at] : expected->output[at]);
  k->take(k->take_user, sentence);
}

/* Whether a question of the case says why heed differs. */
static bool is_explained(const checker *k, const profile_case *c) {
  bool explained = false;
  for (const profile_question *q = k->profile->questions; q->question && !explained; q++)
    explained = q->reason && q->asks(c);
  return explained;
}

/* Of one mode: as the standard, as heed states, or neither. */
static heed_status judge(const checker *k, const profile_case *c, const profile_found *found,
                         profile_verdict *verdict, heed_error *error) {
  profile_expected standard = {NULL, NULL}, stated = {NULL, NULL};
  heed_status status = profile_evaluate(k->context, k->profile, c, false, &standard, error);
  if (status == HEED_OK && !is_right(k, c, found, &standard)) {
    if (*verdict < STATED) *verdict = STATED;
    status = profile_evaluate(k->context, k->profile, c, true, &stated, error);
    if (status == HEED_OK && !(is_explained(k, c) && is_right(k, c, found, &stated))) {
      *verdict = WRONG;
      complain(k, c, found, &stated);
    }
  }
  profile_expected_free(k->context, &standard);
  profile_expected_free(k->context, &stated);
  return status;
}

/* ---------------------------------------------------------------------------------------- count */

/* What a question with a reason states is no fault of the others that the case asks. */
static void count_case(const checker *k, const profile_case *c, profile_verdict verdict) {
  heed_profile_result *r = k->result;
  r->cases++;
  r->passed += verdict == PASSED;
  r->stated += verdict == STATED;
  for (uint32_t i = 0; i < r->line_count; i++) {
    if (!k->profile->questions[i].asks(c)) continue;
    const bool states = verdict == STATED && r->lines[i].reason;
    r->lines[i].cases++;
    r->lines[i].passed += verdict != WRONG && !states;
    r->lines[i].stated += states;
  }
}

static heed_status check_case(const checker *k, uint32_t number, const uint8_t *level,
                              heed_error *error) {
  static const heed_attention_mode modes[] = {HEED_ATTENTION_MODE_RESIDENT,
                                              HEED_ATTENTION_MODE_STREAMED};
  profile_case c;
  profile_verdict verdict = PASSED;
  heed_status status = profile_case_make(k->context, k->profile, number, level, &c, error);
  for (int m = 0; m < 2 && status == HEED_OK && verdict != WRONG; m++) {
    profile_found found;
    status = profile_run(k->context, k->backend, modes[m], &c, &found, error);
    if (status == HEED_OK) status = judge(k, &c, &found, &verdict, error);
    profile_found_free(k->context, &found);
  }
  if (status == HEED_OK) count_case(k, &c, verdict);
  profile_case_free(k->context, &c);
  return status;
}

static void start(const heed_profile *profile, heed_profile_result *result) {
  *result = (heed_profile_result){.profile = profile->name, .standard = profile->standard};
  const profile_question *q = profile->questions;
  for (; q->question && result->line_count < HEED_PROFILE_LINES; q++)
    result->lines[result->line_count++] =
        (heed_profile_line){.question = q->question, .answer = q->answer, .reason = q->reason};
}

heed_status heed_check_profile(heed_context *context, heed_backend *backend, const char *profile,
                               double tolerance, heed_profile_take take, void *take_user,
                               heed_profile_result *result, heed_error *error) {
  if (!context || !backend || !profile || !result)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "check: NULL argument (expected context, backend, profile and result)");
  uint32_t index = 0;
  while (heed_profile_name(index) && strcmp(heed_profile_name(index), profile) != 0) index++;
  if (!heed_profile_name(index))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "check: unknown profile (found \"%.40s\", expected onnx, torch or keras)",
                     profile);
  if (tolerance == 0.0) tolerance = strcmp(heed_backend_name(backend), "cpu") == 0 ? 2e-5 : 1e-4;
  const checker k = {context, backend, profiles[index], tolerance, take, take_user, result};
  uint8_t(*cases)[PROFILE_FACTORS];
  uint32_t count;
  start(profiles[index], result);
  heed_status status =
      profile_choose(context, profiles[index], &cases, &count, &result->pairs, error);
  for (uint32_t i = 0; i < count && status == HEED_OK; i++)
    status = check_case(&k, i + 1, cases[i], error);
  heed_free(context, cases);
  return status;
}

/* ----------------------------------------------------------------------------------------- JSON */

typedef struct text {
  char *to;
  size_t size, used;
} text;

static void put(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const size_t room = t->used < t->size ? t->size - t->used : 0;
  const int length = vsnprintf(room ? t->to + t->used : NULL, room, format, arguments);
  va_end(arguments);
  if (length > 0) t->used += (size_t)length;
}

static void put_string(text *t, const char *key, const char *value) {
  put(t, "\"%s\": \"", key);
  for (; *value; value++) put(t, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
  put(t, "\"");
}

static void put_counts(text *t, uint32_t cases, uint32_t passed, uint32_t stated) {
  put(t, "\"cases\": %u, \"passed\": %u, \"stated\": %u, \"wrong\": %u", cases, passed, stated,
      cases - passed - stated);
}

size_t heed_profile_json(const heed_profile_result *result, const char *backend, char *to,
                         size_t size) {
  text t = {to, size, 0};
  put(&t, "{");
  put_string(&t, "profile", result->profile);
  put(&t, ", ");
  put_string(&t, "standard", result->standard);
  put(&t, ", ");
  put_string(&t, "backend", backend);
  put(&t, ", \"pairs\": %u, ", result->pairs);
  put_counts(&t, result->cases, result->passed, result->stated);
  put(&t, ",\n\"questions\": [");
  for (uint32_t i = 0; i < result->line_count; i++) {
    const heed_profile_line *line = &result->lines[i];
    put(&t, i ? ",\n  {" : "\n  {");
    put_string(&t, "question", line->question);
    put(&t, ", ");
    put_string(&t, "answer", line->answer);
    put(&t, ", ");
    if (line->reason) put_string(&t, "reason", line->reason);
    put(&t, line->reason ? ", " : "");
    put_counts(&t, line->cases, line->passed, line->stated);
    put(&t, "}");
  }
  put(&t, "]}");
  return t.used;
}
