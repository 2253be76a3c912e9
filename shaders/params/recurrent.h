/* Members of the push constants that lstm.comp and gru.comp share. */
u32 count; /* batch rows times hidden */
u32 tokens, token, hidden;
u32 flags;    /* params/recurrent_flags.h */
u32 h_stride; /* between batch rows of h before */
u32 x_origin, bias_origin, h_origin, c_origin, y_origin, cell_origin, after_origin;
