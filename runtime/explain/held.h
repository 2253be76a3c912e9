/* Numbers that are copied from a pass while it runs, right after the last step that reads them:
 * the plan need not keep the values to the end, and a method takes the rows alone that it reads.
 * On a backend whose runs do not stand (a device) the values are kept, and taken after the run. */
#ifndef HEED_EXPLAIN_HELD_H
#define HEED_EXPLAIN_HELD_H

#include "explain/method.h"

/* What is held of a value. */
typedef enum heed_held_form {
  HEED_HELD_FLOATS, /* rows as they are */
  /* Rows of 20 bits a number, as parts of the row's largest: the largest error is 1e-6 of that, and
   * the bytes are 5/8. */
  HEED_HELD_PACKED,
  /* Rows of an attention's weights, [H, rows, Tk] of a picture, made of its query and key. */
  HEED_HELD_WEIGHTS
} heed_held_form;

/* A value [B, ..., width] of which some rows of each picture are held. */
typedef struct heed_held {
  heed_value value, less; /* less: of the same shape, taken away from it; 0: none */
  heed_held_form form;
  uint32_t *rows; /* [row_count], ascending; NULL: all */
  size_t row_count;
  uint32_t width, heads; /* numbers of a row; heads of weights, else 1 */
  uint32_t step;         /* after which it is taken */
  unsigned char *data;
} heed_held;

/* Asks for value, less, form and the first row_count of rows of `wanted`, before the pass has run.
 * What is asked for again is held once, with the rows of all. Statuses: UNSUPPORTED, OUT_OF_MEMORY.
 */
heed_status heed_hold(const heed_explain_run *run, heed_pass *pass, const heed_held *wanted,
                      const char *what, heed_error *error);
/* Asks the plan for what must be kept. Then heed_held_run takes the place of heed_session_run. */
heed_status heed_held_keep(const heed_explain_run *run, heed_pass *pass, heed_error *error);
heed_status heed_held_run(const heed_explain_run *run, heed_pass *pass, heed_error *error);
void heed_held_close(const heed_explain_run *run, heed_pass *pass);

/* Frees what is held of a value less another, which nothing reads any more. */
void heed_held_drop(const heed_explain_run *run, heed_pass *pass, heed_value value,
                    heed_value less);

/* What is held of a value less another, or NULL. */
const heed_held *heed_held_find(const heed_pass *pass, heed_value value, heed_value less);
/* A row of picture b: its numbers [width], in `to` where they are packed. `head` of weights. */
const float *heed_held_row(const heed_held *held, uint32_t b, uint32_t head, size_t row, float *to);
/* d [width] . a row of picture b, summed in double. */
double heed_held_dot(const heed_held *held, uint32_t b, size_t row, const double *d);

#endif
