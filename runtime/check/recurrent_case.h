/* What the readers of lstm and gru have in common. */
#ifndef HEED_CHECK_RECURRENT_CASE_H
#define HEED_CHECK_RECURRENT_CASE_H

#include "check/case.h"

/* lstm, or else gru: any number of layers, one direction or two, with PyTorch's names. */
heed_status heed_recurrent_from_case(heed_case *test, bool lstm, heed_error *error);

#endif
