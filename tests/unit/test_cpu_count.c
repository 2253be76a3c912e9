/* The CPUs of a process: affinity and quotas put together, cpu.max as text, and control groups of
 * both versions in a folder that stands for /. */
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw */
#include "base/cpu_count.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"
#include "support/test.h"

static void test_together(void **state) {
  (void)state;
  static const struct {
    uint32_t online, allowed;
    double quota;
    uint32_t count, running;
    const char *why;
  } cases[] = {
      {8, 8, 0, 8, 8, ""},
      {8, 0, 0, 8, 8, ""}, /* no affinity known */
      {8, 3, 0, 3, 3, "CPU affinity allows 3 of 8 cores"},
      {8, 8, 2, 2, 8, "the CPU quota allows 2.00 of 8 cores"},
      {8, 8, 1.5, 2, 8, "the CPU quota allows 1.50 of 8 cores"},
      {8, 8, 0.001, 1, 8, "the CPU quota allows 0.01 of 8 cores"},
      {8, 2, 4, 2, 2, "CPU affinity allows 2 of 8 cores"},
      {8, 4, 2, 2, 4, "the CPU quota allows 2.00 of 8 cores"},
      {8, 8, 7.5, 8, 8, "the CPU quota allows 7.50 of 8 cores"},
      {8, 8, 1e30, 8, 8, ""},
      {1, 1, 0, 1, 1, ""},
      {0, 0, 0, 1, 1, ""},
      {2, 4, 0, 2, 2, ""}, /* CPUs that came since */
      {4294967295, 4294967294, 4294967293.5, 4294967294, 4294967294,
       "the CPU quota allows 4294967293.50 of 4294967295 cores"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const heed_cpu_count found =
        heed_cpu_count_of(cases[i].online, cases[i].allowed, cases[i].quota);
    assert_int_equal(found.count, cases[i].count);
    assert_int_equal(found.running, cases[i].running);
    assert_string_equal(found.why, cases[i].why);
  }
}

static void test_text(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double quota;
  } cases[] = {
      {"max 100000\n", 0},
      {"150000 100000\n", 1.5},
      {"100000 100000", 1},
      {"300000\n100000\n", 3},
      {"-1\n100000\n", 0},
      {"0 100000", 0},
      {"100000", 0},
      {"100000 0", 0},
      {"100000 -5", 0},
      {"", 0},
      {"x y", 0},
      {"9223372036854775807 1", 9223372036854775807.0},
      {"1000 1000000", 0.001},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (heed_cpu_quota_read(cases[i].text) != cases[i].quota)
      fail_msg("%s: found %g, expected %g", cases[i].text, heed_cpu_quota_read(cases[i].text),
               cases[i].quota);
}

/* ------------------------------------------------------------------------ a folder for the system
 */

static char root[32];

/* Writes a file below root, and makes the folders that it lies in. */
static void put(const char *path, const char *text) {
  char full[4096];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
    *at = 0;
    mkdir(full, 0700);
  }
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info;
  (void)kind;
  (void)where;
  return remove(path);
}

static int clear(void **state) {
  (void)state;
  return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int make_root(void **state) {
  (void)state;
  snprintf(root, sizeof root, "/tmp/heed-cpu-count-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

#define SECOND_MOUNT "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define FIRST_MOUNT                                                                      \
  "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"                                                \
  "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n" \
  "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"

static void expect(double quota) {
  const double found = heed_system_cpu_quota(root);
  if (found != quota) fail_msg("found %g, expected %g", found, quota);
}

static void test_second_version(void **state) {
  (void)state;
  expect(0); /* no /proc */
  put("/proc/self/mountinfo", SECOND_MOUNT);
  expect(0);
  put("/proc/self/cgroup", "0::/user.slice/app.scope\n");
  expect(0);
  put("/sys/fs/cgroup/user.slice/app.scope/cpu.max", "max 100000\n");
  expect(0);
  put("/sys/fs/cgroup/user.slice/cpu.max", "300000 100000\n"); /* a parent's */
  expect(3);
  put("/sys/fs/cgroup/user.slice/app.scope/cpu.max", "150000 100000\n");
  expect(1.5);
  put("/sys/fs/cgroup/cpu.max", "50000 100000\n"); /* of a container, which is the top here */
  expect(0.5);
  put("/sys/fs/cgroup/user.slice/other/cpu.max", "1000 100000\n"); /* another's */
  expect(0.5);
  put("/sys/fs/cpu.max", "1000 100000\n"); /* above the mount: no control group */
  expect(0.5);
}

static void test_first_version(void **state) {
  (void)state;
  put("/proc/self/mountinfo", FIRST_MOUNT);
  put("/proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/job\n0::/\n");
  put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  expect(0);
  put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "25000\n");
  expect(0.25);
  put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "5000\n");
  expect(5);
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  expect(2);
  put("/sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "1000\n"); /* another controller's */
  put("/sys/fs/cgroup/cpuset/cpu.cfs_period_us", "100000\n");
  expect(2);
}

/* A container without a namespace of control groups: its own is what is mounted. */
static void test_mounted_below(void **state) {
  (void)state;
  put("/proc/self/mountinfo", "32 31 0:29 /docker/7f /a\\040place rw - cgroup2 cgroup rw\n"
                              "33 31 0:29 /docker/7 /else rw - cgroup2 cgroup rw\n"
                              "34 31 0:29 /.. /above rw - cgroup2 cgroup rw\n");
  put("/proc/self/cgroup", "0::/docker/7f/inner\n");
  put("/else/cpu.max", "1000 100000\n");
  put("/else/f/inner/cpu.max", "1000 100000\n");
  put("/above/cpu.max", "1000 100000\n");
  expect(0);
  put("/a place/cpu.max", "400000 100000\n");
  expect(4);
  put("/a place/inner/cpu.max", "200000 100000\n");
  expect(2);
  put("/proc/self/cgroup", "0::/docker/7f\n");
  expect(4);
}

static void test_both_versions(void **state) {
  (void)state;
  put("/proc/self/mountinfo",
      FIRST_MOUNT "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  put("/proc/self/cgroup", "4:cpu,cpuacct:/job\n0::/job\n");
  put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  expect(3);
  put("/sys/fs/cgroup/unified/job/cpu.max", "200000 100000\n");
  expect(2);
}

/* Lines that are cut, empty or longer than any buffer: no quota, and the lines after them count. */
static void test_odd_files(void **state) {
  (void)state;
  static char longer[40000];
  memset(longer, 'a', sizeof longer - 1);
  static char text[sizeof longer * 2];
  put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  snprintf(text, sizeof text, "\n - \n1 2\n32 31 0:29 /%s /x rw - cgroup2 c rw\n" SECOND_MOUNT,
           longer);
  put("/proc/self/mountinfo", text);
  snprintf(text, sizeof text, "\n:\n::\n0:\n1:cpux:/\n2:xcpu,cpu2:/\n0::/../up\n");
  put("/proc/self/cgroup", text);
  expect(2);
  snprintf(text, sizeof text, "3:name=%s:/\n0::/b", longer);
  put("/proc/self/cgroup", text);
  expect(2);
  snprintf(text, sizeof text, "0::/%s\n", longer);
  put("/proc/self/cgroup", text);
  expect(0);
  put("/sys/fs/cgroup/cpu.max", longer);
  put("/proc/self/cgroup", "0::/\n");
  expect(0);
  put("/proc/self/mountinfo", "\\1\\\\777 \\");
  expect(0);
}

static void test_found(void **state) {
  (void)state;
  const heed_cpu_count found = heed_cpu_count_find();
  assert_true(found.count >= 1);
  assert_true(found.running >= found.count);
}

int main(void) {
#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, clear)
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_together),
    cmocka_unit_test(test_text),
#if defined(__linux__)
    WITH_ROOT(test_second_version),
    WITH_ROOT(test_first_version),
    WITH_ROOT(test_mounted_below),
    WITH_ROOT(test_both_versions),
    WITH_ROOT(test_odd_files),
#endif
    cmocka_unit_test(test_found),
  };
  return cmocka_run_group_tests_name("count of CPUs", tests, NULL, NULL);
}
