/* Reads AMD's assembly, one instruction a line, "BB3:" before a block: a loop is what a branch back
 * encloses, less the loops inside it. */
#include "vulkan/compile_loops.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INSTRUCTIONS 65536
#define MOST_LABELS 4096

/* Counts of one loop; of the whole kernel where it has none. */
typedef struct loop {
  int first, last; /* instructions */
  int instructions, matrix, vector, fma, loads_16;
} loop;

typedef struct code {
  char *line[MOST_INSTRUCTIONS];
  int count;
  int label[MOST_LABELS]; /* number of a block -> instruction + 1 */
  loop loops[MOST_LABELS];
  int loop_count;
  int truncations;
} code;

static bool starts(const char *line, const char *with) {
  return strncmp(line, with, strlen(with)) == 0;
}

/* v_fma_f32, v_fmac_f32, v_pk_fma_f16, v_fma_mix_f32, v_mac_f32, v_mad_f32, v_dot4_i32_i8; two
 * may stand in a v_dual. */
static int count_fma(const char *line) {
  static const char *const names[] = {"_fma", "_mac_f", "_mad_f", "_mad_mix", "_dot4"};
  int count = 0;
  for (size_t i = 0; starts(line, "v_") && i < sizeof names / sizeof *names; i++)
    for (const char *at = line; (at = strstr(at, names[i])); at++) count++;
  return count;
}

static void count_instruction(const char *line, loop *to) {
  to->instructions++;
  to->matrix += starts(line, "v_wmma") || starts(line, "v_mfma") || starts(line, "v_swmmac");
  to->vector += starts(line, "v_") && !starts(line, "v_wmma") && !starts(line, "v_swmmac");
  to->fma += count_fma(line);
  to->loads_16 += starts(line, "ds_load_u16") || starts(line, "ds_read_u16") ||
                  starts(line, "ds_load_i16") || starts(line, "ds_read_i16");
}

/* A conversion that cuts bits off: the packing one, or any while rounding of fp16 is toward zero
 * (bits 2 and 3 of the mode). */
static bool truncates(const char *line) {
  if (starts(line, "v_cvt_pk_rtz") || starts(line, "v_cvt_pkrtz")) return true;
  return starts(line, "s_round_mode") && (strtoul(line + 12, NULL, 0) >> 2 & 3) == 3;
}

static void take_line(code *c, char *line) {
  while (*line == ' ' || *line == '\t') line++;
  if (starts(line, "BB")) {
    const long block = strtol(line + 2, NULL, 10);
    if (block >= 0 && block < MOST_LABELS) c->label[block] = c->count + 1;
    return;
  }
  if (*line < 'a' || *line > 'z' || c->count == MOST_INSTRUCTIONS) return;
  c->truncations += truncates(line);
  c->line[c->count++] = line;
}

static void find_loops(code *c) {
  for (int i = 0; i < c->count; i++) {
    const char *target = strstr(c->line[i], "branch") ? strstr(c->line[i], "BB") : NULL;
    const long block = target ? strtol(target + 2, NULL, 10) : -1;
    if (block < 0 || block >= MOST_LABELS || !c->label[block] || c->label[block] - 1 > i) continue;
    int k = 0;
    while (k < c->loop_count && c->loops[k].first != c->label[block] - 1) k++;
    if (k == MOST_LABELS) continue;
    if (k == c->loop_count) c->loops[c->loop_count++] = (loop){.first = c->label[block] - 1};
    c->loops[k].last = i;
  }
}

static bool is_inside(const code *c, int outer, int instruction) {
  for (int k = 0; k < c->loop_count; k++) {
    const loop *other = &c->loops[k], *around = &c->loops[outer];
    if (other->first > around->first && other->last <= around->last &&
        instruction >= other->first && instruction <= other->last)
      return true;
  }
  return false;
}

static void count_loops(code *c) {
  for (int k = 0; k < c->loop_count; k++)
    for (int i = c->loops[k].first; i <= c->loops[k].last; i++)
      if (!is_inside(c, k, i)) count_instruction(c->line[i], &c->loops[k]);
}

static void write_counts(FILE *out, const code *c) {
  const loop *heavy = NULL; /* where the products are */
  int loads_16 = 0;
  for (int k = 0; k < c->loop_count; k++) {
    const loop *one = &c->loops[k];
    if (one->matrix) loads_16 += one->loads_16;
    if (!heavy || one->matrix > heavy->matrix ||
        (one->matrix == heavy->matrix && one->fma > heavy->fma))
      heavy = one;
  }
  if (heavy)
    fprintf(out, ", \"loop_instructions\": %d, \"loop_products\": %d", heavy->instructions,
            heavy->matrix ? heavy->matrix : heavy->fma);
  else
    fputs(", \"loop_instructions\": null, \"loop_products\": null", out);
  if (heavy && !heavy->matrix && heavy->fma)
    fprintf(out, ", \"valu_per_fma\": %.3f", (double)heavy->vector / heavy->fma);
  else
    fputs(", \"valu_per_fma\": null", out);
  fprintf(out, ", \"matrix_loads_16\": %d, \"truncations\": %d", loads_16, c->truncations);
}

void compile_write_loops(FILE *out, char *text) {
  code *c = text && strstr(text, "s_endpgm") ? calloc(1, sizeof *c) : NULL;
  if (!c) {
    fputs(", \"loop_instructions\": null, \"loop_products\": null, \"valu_per_fma\": null, "
          "\"matrix_loads_16\": null, \"truncations\": null",
          out);
    return;
  }
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) take_line(c, line);
  find_loops(c);
  count_loops(c);
  write_counts(out, c);
  free(c);
}
