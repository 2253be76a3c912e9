/* A convolution by attention: a layer that checks alone define. */
#ifndef HEED_CHECK_LAYERS_ATTENTION_AS_CONVOLUTION_H
#define HEED_CHECK_LAYERS_ATTENTION_AS_CONVOLUTION_H

#include "heed/graph.h"

/* The convolution of image [B, C, height, width] with kernel [O, C, K, K] (a constant; K odd),
 * stride 1, zeros outside -> [B, O, height, width]. Its mask has K K (height width)^2 bytes. */
heed_value heed_attention_as_convolution(heed_graph *graph, heed_value image, heed_value kernel);

#endif
