/* Fields of add and multiply. Axes are collapsed; axis 0 is the outermost. */
u32 count; /* elements of y */
u32 a_origin, b_origin, y_origin;
u32 size[6];   /* of y along each axis */
u32 stride[6]; /* of b; 0 where it is repeated */
