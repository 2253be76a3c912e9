/* Colour maps: 0..1 -> RGB, from tables of 256 entries.
 *
 * Tables: viridis, magma and inferno by Nathaniel Smith and Stefan van der Walt (2015, CC0),
 * cividis by Jamie Nunez, Christopher Anderton and Ryan Renslow (PLOS ONE 13(7), 2018); the
 * published numbers rounded to 8 bits. Steps from entry to entry are small, so that a word holds
 * 19 entries. */
#include <math.h>

#include "heed/explain.h"

#define ENTRIES 19

typedef struct ramp {
  /* red, green, blue; of each 19 entries the first in 8 bits, then 18 steps + 2 in 3 bits each */
  uint64_t words[3][(256 + ENTRIES - 1) / ENTRIES];
} ramp;

static const ramp cividis_ramp = {
    {{0x1249249249249200, 0x23924925bae69200, 0x1b71b6dc6e371c24, 0x1b6db6db6db6db3c,
      0x1a6db6db69b6db4f, 0x1b6d36db6d36db60, 0x1b4db6db4db6d371, 0x136db6db6db6db81,
      0x1b6db6db6db6db93, 0x1b6db8db6db6dba6, 0x1b8db6db6db6dbba, 0x1b6db6e36db6dbce,
      0x1b8db6dc6db6dce2, 0x000000004936e3f8},
     {0x1a6d369b4db4db22, 0x1b4db4da6d369a30, 0x1a6da6d369b4db3c, 0x1a6d369b69b4da4a,
      0x1369b69b4da6da57, 0x1b4da6da6d36d364, 0x1b69b4db4db4da72, 0x1b4db4db4db4db7f,
      0x1b69b6d36d36da8e, 0x1b4db69b6da6db9c, 0x1b4db6da6db69bac, 0x1b6d36db6da6dbbc,
      0x1b6db6db69b6dbcd, 0x000000008db6dbdf},
     {0x1c9247248e47234e, 0x1149229248a4d36f, 0x124922924922926e, 0x124924924924926c,
      0x134924d249249a6c, 0x126926926924d26f, 0x124924d269a4d274, 0x1249249248a49378,
      0x1229229245249178, 0x0a29145229149174, 0x0944a28a28a28a6d, 0x0928925125125163,
      0x0820904920924954, 0x000000008da0003c}}};

static const ramp viridis_ramp = {
    {{0x1249349269269a44, 0x1229245249249248, 0x0a28a29145229146, 0x0a28a28a28a28a3e,
      0x1148a28a45145135, 0x122914522914522c, 0x0a45245229145225, 0x134d249348a4921f,
      0x1c71b71b6da6da22, 0x2492492491c8e337, 0x2cb2c964b24b245a, 0x2cb65b2cb6596586,
      0x25b2cb65b2d96cb8, 0x00000000964b2cea},
     {0x1c6e38e38e38e301, 0x1c6db8dc6dc6e31c, 0x1b6dc6db71b6e334, 0x1b6db8db6db6dc4a,
      0x1b6db6db6db6db5f, 0x136db6db6db6db71, 0x1b4db6db6db6db83, 0x1b6da6db6db6db95,
      0x1a6db6db69b6dba7, 0x1b4db69b6da6dbb8, 0x1a6d34db4da6dac8, 0x1a69a69a69a69ad5,
      0x1269349a4d349ade, 0x000000004d2692e5},
     {0x1c6dc6e38dc71c54, 0x1a6db4db6db8db6e, 0x1349a69a69a6d380, 0x124d249349349389,
      0x124924924934928d, 0x124924924924928e, 0x1248a4924524928e, 0x1145148a4522928b,
      0x1125125128a28985, 0x0124924924924978, 0x0104104824120964, 0x0020020100804149,
      0x1348a24904804129, 0x0000000091c6db1a}}};

static const ramp magma_ramp = {
    {{0x1b6db4db4d269300, 0x2371b8dc6db6e30d, 0x247247239238e425, 0x238e38e471c8e445,
      0x2471c71c8e38e364, 0x238e471c8e391c81, 0x1c8e47238e4723a0, 0x238e38e391c723bf,
      0x1b6db6db8db8dcdc, 0x1a4d269a69b4daf2, 0x124934924d249afb, 0x12492492492492fe,
      0x0a492492292492fe, 0x00000000492492fc},
     {0x1369b4d34d349a00, 0x1a49349a69a6d30a, 0x1249229229248a12, 0x1a6d34da69a69210,
      0x1b4d34da6d34da1a, 0x1a69a69a69b4d325, 0x1369a69a69b4d32f, 0x1b4db6d369b4da3a,
      0x1c8e371b8db71b48, 0x2492392491c91c62, 0x249247249248e485, 0x2491c924724923a9,
      0x1c9239248e4923cc, 0x00000000923924ee},
     {0x24924924b2471b04, 0x2cb25964b2592429, 0x1b8dc8e4924b2555, 0x1349a4d34d36d377,
      0x1249a4924924d280, 0x1229245249249281, 0x0a28a2914522917f, 0x0944944a25128977,
      0x0a44a25128925169, 0x134d26924924915d, 0x1c6db6db6db6d360, 0x1c8e38e38dc6e373,
      0x247248e48e47238f, 0x00000000923924b0}}};

static const ramp inferno_ramp = {
    {{0x1b6db6da6d269300, 0x1c8e471c71b8dc0e, 0x1c8e48e47247242b, 0x2471c8e391c7234c,
      0x2391c7238e391c6a, 0x238e471c8e38e488, 0x1b8e38e38e391ca6, 0x1b71b71b8dc6e3c3,
      0x1b4db6db6db6dcdb, 0x1269a69b4da6d3ee, 0x124924d249a4d2f9, 0x0a291491492292fc,
      0x1349148a291451f7, 0x000000008dc6daf3},
     {0x134da69a69349a00, 0x114924924d269a09, 0x1a69269248a48a0b, 0x134da69b4d34d30c,
      0x134da69a6d34d317, 0x1369a6d34d369a22, 0x136db4db4da6d32d, 0x1b6e36db6db6db3b,
      0x238e38dc71b8db50, 0x2472472391c8e46a, 0x248e49248e49238b, 0x24923924924924ae,
      0x2391c91c924924d3, 0x000000008db6e3f5},
     {0x2c96492c92491b04, 0x24964b2596592c2b, 0x1a6d36db6e38e457, 0x124924924d26936b,
      0x122914922924926e, 0x0928a25145148a6a, 0x0924924944928960, 0x092092492492494f,
      0x082482490492413b, 0x0120920904824124, 0x2471b69a48a2490b, 0x2d96cb2592592412,
      0x3edb6db5d75b6d40, 0x00000000baedb686}}};

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
  uint64_t word = from->words[channel][entry / ENTRIES];
  uint32_t value = word & 255;
  word >>= 8;
  for (uint32_t step = 0; step < entry % ENTRIES; step++, word >>= 3)
    value += (uint32_t)(word & 7) - 2u;
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
