/* Groups of patches: k-means of unit states (Lloyd 1982), begun from the patch that is farthest
 * from the mean and then from those that are farthest from all centres so far (Gonzalez 1985). No
 * step is left to chance; ties go to the lower index. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "heed/explain.h"

enum { ROUNDS = 1000 }; /* rounding could make a circle */

typedef struct cluster_job {
  const float *states; /* [count, channels] */
  size_t count, channels, clusters;
  double *length;  /* [count]; 0 where a state has no direction */
  double *near;    /* [count]: the square of the distance to the nearest centre so far */
  double *centres; /* [clusters, channels] */
  size_t *members; /* [clusters] */
} cluster_job;

static bool has_direction(const cluster_job *job, size_t i) { return job->length[i] > 0.0; }

static void measure(cluster_job *job) {
  for (size_t i = 0; i < job->count; i++) {
    double square = 0.0;
    for (size_t c = 0; c < job->channels; c++) {
      const double value = (double)job->states[i * job->channels + c];
      square += value * value;
    }
    job->length[i] = isfinite(square) ? sqrt(square) : 0.0;
  }
}

static double distance(const cluster_job *job, size_t i, const double *centre) {
  const float *state = job->states + i * job->channels;
  double square = 0.0;
  for (size_t c = 0; c < job->channels; c++) {
    const double off = (double)state[c] / job->length[i] - centre[c];
    square += off * off;
  }
  return square;
}

/* The centre of each group becomes its mean; a group without members keeps it. cluster NULL: the
 * first centre becomes the mean of all. */
static void take_means(cluster_job *job, const int32_t *cluster) {
  const size_t channels = job->channels, groups = cluster ? job->clusters : 1;
  memset(job->members, 0, groups * sizeof *job->members);
  for (size_t i = 0; i < job->count; i++)
    if (has_direction(job, i)) job->members[cluster ? cluster[i] : 0]++;
  for (size_t g = 0; g < groups; g++)
    if (job->members[g]) memset(job->centres + g * channels, 0, channels * sizeof(double));
  for (size_t i = 0; i < job->count; i++) {
    if (!has_direction(job, i)) continue;
    const size_t group = cluster ? (size_t)cluster[i] : 0;
    for (size_t c = 0; c < channels; c++)
      job->centres[group * channels + c] +=
          (double)job->states[i * channels + c] / job->length[i] / (double)job->members[group];
  }
}

/* The patch with a direction that is farthest by `near`. */
static size_t farthest(const cluster_job *job) {
  size_t best = job->count;
  for (size_t i = 0; i < job->count; i++)
    if (has_direction(job, i) && (best == job->count || job->near[i] > job->near[best])) best = i;
  return best;
}

static void choose_centres(cluster_job *job) {
  const size_t channels = job->channels;
  memset(job->centres, 0, job->clusters * channels * sizeof *job->centres);
  take_means(job, NULL);
  for (size_t i = 0; i < job->count; i++)
    if (has_direction(job, i)) job->near[i] = distance(job, i, job->centres);
  for (size_t g = 0; g < job->clusters; g++) {
    const size_t chosen = farthest(job);
    double *centre = job->centres + g * channels;
    if (chosen == job->count) return; /* nothing has a direction */
    for (size_t c = 0; c < channels; c++)
      centre[c] = (double)job->states[chosen * channels + c] / job->length[chosen];
    for (size_t i = 0; i < job->count; i++) {
      if (!has_direction(job, i)) continue;
      const double off = distance(job, i, centre);
      if (g == 0 || off < job->near[i]) job->near[i] = off;
    }
  }
}

/* Whether a patch changed its group. */
static bool assign(const cluster_job *job, int32_t *cluster) {
  bool changed = false;
  for (size_t i = 0; i < job->count; i++) {
    if (!has_direction(job, i)) continue;
    double nearest = 0.0;
    int32_t best = -1;
    for (size_t g = 0; g < job->clusters; g++) {
      const double off = distance(job, i, job->centres + g * job->channels);
      if (best >= 0 && !(off < nearest)) continue;
      nearest = off;
      best = (int32_t)g;
    }
    changed = changed || best != cluster[i];
    cluster[i] = best;
  }
  return changed;
}

heed_status heed_patches_cluster(heed_context *context, const float *states, uint32_t count,
                                 uint32_t channels, uint32_t clusters, int32_t *cluster,
                                 float *centres, heed_error *error) {
  if (clusters == 0 || clusters > count || channels == 0)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "k-means: invalid number of clusters (found %u for %u states of %u channels, "
                     "expected 1 to the number of states)",
                     clusters, count, channels);
  cluster_job job = {.states = states, .count = count, .channels = channels, .clusters = clusters};
  job.length = heed_alloc_raw(context, count, 2 * sizeof(double));
  job.centres = heed_alloc_raw(context, clusters, channels * sizeof(double));
  job.members = heed_alloc_raw(context, clusters, sizeof *job.members);
  const bool made = job.length && job.centres && job.members;
  if (made) {
    job.near = job.length + count;
    for (size_t i = 0; i < count; i++) cluster[i] = -1;
    measure(&job);
    choose_centres(&job);
    for (int round = 0; round < ROUNDS && assign(&job, cluster); round++) take_means(&job, cluster);
    for (size_t i = 0; centres && i < (size_t)clusters * channels; i++)
      centres[i] = (float)job.centres[i];
  }
  heed_free(context, job.length);
  heed_free(context, job.centres);
  heed_free(context, job.members);
  return made ? HEED_OK
              : heed_fail_memory(error, "k-means",
                                 ((size_t)clusters * channels + 2 * (size_t)count) * 8);
}
