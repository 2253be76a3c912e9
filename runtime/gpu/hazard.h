/* Which dispatches must wait for those before them. */
#ifndef HEED_GPU_HAZARD_H
#define HEED_GPU_HAZARD_H

#include "gpu/builder.h"

#define HEED_GPU_MOST_TOUCHED 64

/* What has been touched since the last barrier. Starts as zeros. */
typedef struct heed_gpu_hazards {
  heed_gpu_range touched[HEED_GPU_MOST_TOUCHED];
  uint32_t count;
} heed_gpu_hazards;

/* Whether a barrier must stand before the dispatch: it touches bytes that an earlier one touched,
 * and at least one of the two writes them; or there is no room to remember more. Remembers what the
 * dispatch touches, and after a barrier nothing else. */
bool heed_gpu_hazards_meet(heed_gpu_hazards *hazards, const heed_gpu_dispatch *dispatch);

#endif
