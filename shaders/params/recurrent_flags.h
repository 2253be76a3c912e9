/* What a token of a recurrence has: bits of flags. */
#ifndef HEED_SHADERS_PARAMS_RECURRENT_FLAGS_H
#define HEED_SHADERS_PARAMS_RECURRENT_FLAGS_H

#define HEED_RECURRENT_H 1u /* an h before; else zeros */
#define HEED_RECURRENT_C 2u /* a c before; else zeros */
#define HEED_RECURRENT_BIAS 4u
#define HEED_RECURRENT_LAST 8u /* h is stored once more */

#endif
