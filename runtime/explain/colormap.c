/* Colour maps: 0..1 -> RGB, from tables of 256 entries.
 *
 * Tables: viridis, magma and inferno by Nathaniel Smith and Stefan van der Walt (2015, CC0),
 * cividis by Jamie Nunez, Christopher Anderton and Ryan Renslow (PLOS ONE 13(7), 2018); the
 * published numbers rounded to 8 bits. They are
 * kept as steps from entry to entry, which are small and so take a quarter of the room where the
 * runtime is compressed (WebAssembly). */
#include <math.h>

#include "heed/heed.h"

#define STRIDE 16

typedef struct ramp {
  uint8_t start[3][256 / STRIDE]; /* red, green, blue of every 16th entry */
  char steps[3][257];             /* from the entry before it: 'd' = none, 'c' = -1, 'e' = 1 ... */
} ramp;

static const ramp cividis_ramp = {
    {{0, 0, 26, 50, 67, 83, 97, 111, 125, 140, 155, 171, 188, 205, 222, 240},
     {34, 46, 56, 67, 78, 90, 101, 112, 124, 136, 148, 160, 174, 187, 201, 216},
     {78, 106, 111, 109, 108, 109, 111, 115, 120, 120, 118, 114, 108, 99, 88, 70}},
    {"dddddddddddddddddddddddehghggfffffffefefefeefeefeeeeefeeeeeeeeeeeeeeeeeeeeeeeeeeeeedeeeeeeeee"
     "deeeeeeedeeeeeeedeeeeeedeeeeedeeeee"
     "eedeeeeeeeeeeeeeeeeeeeedeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeefeeeeeeeeeeeeeeeeeeeeeefeeeeeeeeeeeefe"
     "eeeeeeeefeeeeeeefeeeeeefeeeefeeeddd",
     "deeedeeedeedeedeedeededeedeedeedeeedeedeeedeedeedeedeeedeedeedeedeeedeedeedeedeeedeedeedeeede"
     "edeedeeedeedeeedeedeeedeedeeedeeede"
     "edeeedeeedeeedeeedeeedeeedeeeedeeedeeeedeeedeeeedeeeeedeeeedeeeeedeeeeedeeeeeedeeeeeeedeeeeee"
     "eedeeeeeeeeeeedeeeeeeeeeeeeeeeeeeef",
     "deffeffeffffefffffefededdcdddddcddddcdddddcdddddddcdddddddddddddddddddddddddddeddddddddeddddd"
     "eddddeddddedddedddeddeddeddededdedd"
     "ddddddeddddcdddddddddddddcdddddcddddcdddcdddcdddcddcddcdcddcdcddcdcdcdcdcdcdccdccdcdcccdcccdc"
     "cccdccccccccccbccccbccbcbcbbbbbdeef"}};

static const ramp viridis_ramp = {
    {{68, 72, 71, 66, 59, 51, 44, 38, 33, 31, 40, 63, 94, 132, 173, 216},
     {1, 24, 45, 64, 82, 99, 114, 130, 145, 160, 174, 188, 201, 212, 220, 226},
     {84, 106, 123, 134, 139, 141, 142, 142, 140, 136, 128, 115, 98, 75, 48, 25}},
    {"ddededddeddddeddddddddddddddddcddddcdddcddcddcdcddcdcdcdcddcdcdcdcdcdcdcdcdcdcdcdcdcddcdcdcdd"
     "cdcddcdcddcddcdcddcddcddcdcddcddcdd"
     "dcddcddddddcddedddddedededeeedeeeeefeeefefefefeffeffffffffffffffffgfffgffgffgfgfgfgfgfgfggfgf"
     "ggfggfggfggfggfggfggfgfggfgfgfgffgf",
     "defefefefefefefeefeeefeefeeefeefeeeefeeefeeeefeeeeefeeeeeefeeeeeeeeeefeeeeeeeeeeeeeeeeeeeeeee"
     "eedeeeeeeeeeeeeeeeeedeeeeeeeeeeeeee"
     "eedeeeeeeeeeeeeeeedeeeeeeeeeeeedeeeeeeeeedeeeeeedeeeeedeeeedeeedeeedeedeeededeedeedededededed"
     "ededededdeddededdeddeddeddedddedded",
     "dfefefeefefeefeeefeeeeefeeeeeeedeeeedeeedeededededededdeddedddedddedddddeddddddddeddddddddddd"
     "ddddddddddddddddddddddddddddcdddddd"
     "cddddcdddcddcddcddcdcdcddccdcdcdccdcccdcccdccccccccccccccccccbcccbccbccbccbcbcbcbbcbcbbcbbcbb"
     "cbbbcbbbcbcbbccbccccdcddedeeeeefeff"}};

static const ramp magma_ramp = {
    {{0, 10, 29, 54, 81, 106, 131, 156, 183, 208, 231, 245, 252, 254, 254, 253},
     {0, 8, 17, 16, 18, 28, 38, 46, 55, 65, 82, 107, 137, 167, 196, 226},
     {4, 34, 71, 107, 124, 129, 129, 127, 121, 111, 99, 92, 97, 114, 136, 163}},
    {"deddeddedeeedeeeeeeeefeeeeeefeefeefeefeffefefffeffefffeffeffeffefeffefefefeffefefefeffefefefe"
     "ffefeffefeffefeffefeffeffeffefeffef"
     "feffefeffefeffefefefefefefeefeeefeeeeeeeeeeedeedeededededdeddeddeddddedddddeddddddddddddddddd"
     "dddddddddddddddcdddddddddcddddddddd",
     "ddeddededededeedeedeedeededededdeddddeddcdddddcdddcddddddedddedededeededeedeedeededeedeededed"
     "eedededeedededededededededeedededed"
     "edeededeedeedeedeeeeedeeeeefeeeefeefeefeffeffefffeffffffeffffffffeffffffffefffffffeffffffefff"
     "ffefffffefffffefffffeffffefffffefff",
     "deefefffgffffffffffgffffgffgffgfgffgfgfgffgffffffeffeefeeeedeeededededdeddeddddeddddddddddedd"
     "ddcddddddddddcddddcdddcddcddcdcddcd"
     "cdcdcdccdccdccdccdcccdccccdccccdccdccdccddcdcddddddddddeddededeedeeeeeeeeeeeeeefeeefeefeefefe"
     "fefeffefeffeffefffeffffefffffffefff"}};

static const ramp inferno_ramp = {
    {{0, 11, 33, 61, 87, 113, 138, 163, 188, 210, 228, 241, 249, 252, 249, 242},
     {0, 7, 12, 9, 16, 25, 34, 44, 55, 70, 90, 115, 142, 172, 203, 234},
     {4, 36, 74, 101, 110, 110, 106, 97, 84, 68, 49, 29, 9, 17, 53, 105}},
    {"deddeddeedeeeeeeeeeefeefeefefefeffeffeffffefffeffefffeffefeffefeffefeffefeffefeffefefeffefeff"
     "efeffefefeffefeffefefefeffefefefefe"
     "fefeefefeefeefeefeeefeeeefeeeeeeeeeeeeeedeeeedeedeedeededededdeddeddeddddedddddddddddcddddcdd"
     "dcddcdcdcdcdcddcdcddcdddededeeefeef",
     "ddeddeddedededeedededededdedddddddddcdddcdddcdddddedddededededededeededeededeedededeedededeed"
     "edededeedededeededeedeedeedeedeeede"
     "eeeedeeeeeeeeeeeeeefeeeefeeefeefefeefefefefeffeffeffeffefffefffefffffefffffffefffffffffffffff"
     "fefffffffffffffffefffeffefeefeeeeef",
     "deefffffffgffffgffgffgffgfgfgffgffgffffffefefeeeeeeedeedededdeddedddddddddddddddddddcddddcddc"
     "ddcdcddcdcdcdccdcdcccdccdccccdccccc"
     "ccccccccccccccccccccbcccccbcccccbccccbcccbcccbccbccbccbcccbccbcccccdcdddedeeefeffeffffgfffgff"
     "gfggfgggggggghghghhhhhhhhihhhhhhghg"}};

static const struct {
  const char *name;
  const ramp *ramp; /* NULL: grey, computed */
} colormaps[] = {{"cividis", &cividis_ramp},
                 {"viridis", &viridis_ramp},
                 {"magma", &magma_ramp},
                 {"inferno", &inferno_ramp},
                 {"grey", NULL}};
#define COLORMAP_COUNT (sizeof colormaps / sizeof *colormaps)

/* A number that is no map is taken as the default one. */
static size_t known(heed_colormap map) {
  return (size_t)map < COLORMAP_COUNT ? (size_t)map : (size_t)HEED_COLORMAP_CIVIDIS;
}

const char *heed_colormap_name(heed_colormap map) { return colormaps[known(map)].name; }

static uint8_t read_channel(const ramp *from, uint32_t channel, uint32_t entry) {
  int value = from->start[channel][entry / STRIDE];
  for (uint32_t i = entry / STRIDE * STRIDE + 1; i <= entry; i++)
    value += from->steps[channel][i] - 'd';
  return (uint8_t)value;
}

void heed_colormap_rgb(heed_colormap map, double t, uint8_t rgb[3]) {
  if (isnan(t)) {
    rgb[0] = rgb[1] = rgb[2] = 128;
    return;
  }
  /* nearest, so that both ends are reached */
  const uint32_t entry = (uint32_t)((t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t) * 255.0 + 0.5);
  const ramp *from = colormaps[known(map)].ramp;
  for (uint32_t channel = 0; channel < 3; channel++)
    rgb[channel] = from ? read_channel(from, channel, entry) : (uint8_t)entry;
}
