/* A backend that two threads use at once, and one in the child of a fork: each call gives its right
 * numbers or a status, and none hangs. On the CPU and on Vulkan. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vulkan/vulkan_test.h"

enum { RUNS = 400, SECONDS = 60 };

static void open_program(vulkan_program *program, const heed_vulkan_desc *desc, uint32_t threads) {
  heed_error error;
  if (desc) {
    assert_ok(vulkan_program_open(program, desc, &error));
    return;
  }
  const heed_cpu_desc cpu = {sizeof cpu, threads, NULL};
  assert_ok(heed_cpu_backend_create(program->context, &cpu, &program->backend, &error));
  assert_ok(heed_plan_create(program->graph, program->backend, NULL, &program->plan, &error));
  assert_ok(heed_session_create(program->plan, NULL, &program->session, &error));
}

/* ------------------------------------------------------------------------------------- threads */

typedef struct caller {
  heed_session *session;
  const vulkan_program *program;
  heed_plan *plan;
  float expected[VULKAN_TEST_SIZE];
  uint32_t right, refused, wrong;
  bool other; /* something else than the sentence of turns */
} caller;

static heed_status run_once(caller *c, float *found, heed_error *error) {
  const vulkan_program *p = c->program;
  heed_status status = heed_session_write(c->session, p->x, p->input, sizeof p->input, error);
  if (status == HEED_OK) status = heed_session_run(c->session, NULL, error);
  return status == HEED_OK ? heed_session_read(c->session, p->y, 0, VULKAN_TEST_SIZE, found, error)
                           : status;
}

static void *call(void *user) {
  caller *c = user;
  for (int i = 0; i < RUNS; i++) {
    float found[VULKAN_TEST_SIZE] = {0};
    heed_error error;
    const heed_status status = run_once(c, found, &error);
    if (status == HEED_OK && memcmp(found, c->expected, sizeof found) == 0)
      c->right++;
    else if (status == HEED_OK)
      c->wrong++;
    else if (status == HEED_INVALID_ARGUMENT && strstr(error.message, "one thread at a time"))
      c->refused++;
    else
      c->other = true;
  }
  return NULL;
}

static void check_threads(const heed_vulkan_desc *desc) {
  vulkan_program program;
  heed_error error;
  heed_session *second;
  vulkan_program_start(&program, NULL);
  open_program(&program, desc, 2);
  assert_ok(heed_session_create(program.plan, NULL, &second, &error));
  caller callers[2] = {{.session = program.session, .program = &program},
                       {.session = second, .program = &program}};
  assert_ok(run_once(&callers[0], callers[0].expected, &error));
  memcpy(callers[1].expected, callers[0].expected, sizeof callers[0].expected);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(callers[i].wrong, 0);
    assert_false(callers[i].other);
  }
  assert_true(callers[0].right + callers[1].right >
              0); /* one may find the other in its turn always */
  print_message("%u runs refused of %d\n", callers[0].refused + callers[1].refused, 2 * RUNS);
  /* and it goes on */
  float found[VULKAN_TEST_SIZE];
  assert_ok(run_once(&callers[1], found, &error));
  assert_memory_equal(found, callers[1].expected, sizeof found);
  heed_session_destroy(second);
  vulkan_program_end(&program);
}

/* Asked between the stages of a run: lets another thread try while it waits, once. */
typedef struct meeting {
  caller *second;
  bool met;
} meeting;

static void *call_once(void *user) {
  caller *c = user;
  float found[VULKAN_TEST_SIZE];
  heed_error error = {HEED_OK, ""};
  heed_session *another = NULL;
  c->refused += run_once(c, found, &error) == HEED_INVALID_ARGUMENT &&
                strstr(error.message, "in use (found a call of another thread");
  c->refused += heed_session_create(c->plan, NULL, &another, &error) == HEED_INVALID_ARGUMENT;
  return NULL;
}

static bool meet(void *user) {
  meeting *m = user;
  pthread_t thread;
  if (m->met) return false;
  m->met = true;
  assert_int_equal(pthread_create(&thread, NULL, call_once, m->second), 0);
  pthread_join(thread, NULL);
  return false;
}

static void check_meeting(const heed_vulkan_desc *desc) {
  vulkan_program program;
  heed_error error;
  heed_session *second;
  float found[VULKAN_TEST_SIZE];
  vulkan_program_start(&program, NULL);
  open_program(&program, desc, 1); /* also where there is no pool */
  assert_ok(heed_session_create(program.plan, NULL, &second, &error));
  caller one = {.session = program.session, .program = &program},
         two = {.session = second, .program = &program, .plan = program.plan};
  assert_ok(run_once(&one, one.expected, &error));
  meeting both = {&two, false};
  heed_hooks hooks = HEED_HOOKS_INIT;
  hooks.cancel = meet;
  hooks.user = &both;
  assert_ok(heed_session_run(program.session, &hooks, &error));
  assert_true(both.met);
  assert_int_equal(two.refused, 2);
  assert_ok(heed_session_read(program.session, program.y, 0, VULKAN_TEST_SIZE, found, &error));
  assert_memory_equal(found, one.expected, sizeof found);
  assert_ok(run_once(&two, found, &error)); /* its turn */
  assert_memory_equal(found, one.expected, sizeof found);
  heed_session_destroy(second);
  vulkan_program_end(&program);
}

/* ----------------------------------------------------------------------------------------- fork */

/* What the child found, as its exit code: 0 as wanted. It must end, whatever it found. */
static int child_of(vulkan_program *program, bool refused) {
  heed_error error;
  float found[VULKAN_TEST_SIZE];
  heed_session *another = NULL;
  caller c = {.session = program->session, .program = program};
  const heed_status status = run_once(&c, found, &error);
  if (!refused)
    return status == HEED_OK && memcmp(found, program->y_found, sizeof found) == 0 ? 0 : 1;
  if (status != HEED_INVALID_ARGUMENT || !strstr(error.message, "after fork()")) return 2;
  if (heed_session_create(program->plan, NULL, &another, &error) != HEED_INVALID_ARGUMENT) return 3;
  heed_session_destroy(program->session);
  heed_plan_destroy(program->plan);
  heed_backend_destroy(program->backend); /* none of its threads is here */
  program->backend = NULL;
  open_program(program, NULL, 2); /* of its own */
  c.session = program->session;
  return run_once(&c, found, &error) == HEED_OK ? 0 : 4;
}

static void check_fork(const heed_vulkan_desc *desc, uint32_t threads, bool refused) {
  vulkan_program program;
  heed_error error;
  vulkan_program_start(&program, NULL);
  open_program(&program, desc, threads);
  caller c = {.session = program.session, .program = &program};
  assert_ok(run_once(&c, program.y_found, &error));
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(SECONDS); /* a hang ends the child */
    _exit(child_of(&program, refused));
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
    fail_msg("the child: found wait status %d, expected exit code 0", ended);
  float found[VULKAN_TEST_SIZE];
  assert_ok(run_once(&c, found, &error)); /* the parent's is as before */
  assert_memory_equal(found, program.y_found, sizeof found);
  vulkan_program_end(&program);
}

static void test_two_threads_on_the_cpu(void **state) {
  (void)state;
  check_meeting(NULL);
  check_threads(NULL);
}

static void test_two_threads_on_vulkan(void **state) {
  (void)state;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  vulkan_test_need_device();
  check_meeting(&desc);
  check_threads(&desc);
}

static void test_fork_with_the_cpu(void **state) {
  (void)state;
  check_fork(NULL, 2, true);
  check_fork(NULL, 1, false); /* has no thread that could be missing */
}

static void test_fork_with_vulkan(void **state) {
  (void)state;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  vulkan_test_need_device();
  check_fork(&desc, 0, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_threads_on_the_cpu), cmocka_unit_test(test_two_threads_on_vulkan),
      cmocka_unit_test(test_fork_with_the_cpu), cmocka_unit_test(test_fork_with_vulkan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
