/* The forms of weights, as they are tried: cpu/weights/NAME.c. f32 is the last one: it takes what
 * no other does. */
HEED_FORM(int8)
HEED_FORM(f16)
HEED_FORM(bf16)
HEED_FORM(f32)
