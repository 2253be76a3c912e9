/* The numbers of a head. See statistics.h. */
#include "statistics.h"

#define AT(name) offsetof(heed_map_statistics, name)

/* 2^39 units hold the largest that each can be: 32 nats, 32,768 pixels, all of a row. */
const survey_statistic survey_statistics[SURVEY_STATISTICS] = {
    {"entropy_cls", AT(entropy_cls), NULL, 0.0, 0, SURVEY_NATS, 34},
    {"entropy_patches", AT(entropy_patches), "entropy (nats)", 1.0, 3, SURVEY_NATS, 34},
    {"distance", AT(distance), "distance (pixels)", 1.0, 1, SURVEY_PIXELS, 24},
    {"distance_renormalised", AT(distance_renormalised), NULL, 0.0, 0, SURVEY_PIXELS, 24},
    {"prefix_mass", AT(prefix_mass), "prefix %", 100.0, 1, SURVEY_SHARE, 38},
    {"self_mass", AT(self_mass), "self %", 100.0, 1, SURVEY_SHARE, 38},
    {"top5_mass", AT(top5_mass), "top 5 %", 100.0, 1, SURVEY_SHARE, 38},
};

double survey_statistic_of(const heed_map_statistics *of, size_t index) {
  return *(const double *)(const void *)((const char *)of + survey_statistics[index].offset);
}
