/* What a run of a graph gives. */
#ifndef HEED_ONNX_EVALUATE_RESULT_H
#define HEED_ONNX_EVALUATE_RESULT_H

#include "onnx/evaluate/evaluate.h"
#include "onnx/file/attention_finder.h"

heed_status heed_onnx_result_create(const heed_onnx *file, heed_onnx_result **result,
                                    heed_error *error);
/* Takes the array, also after a failure; a `status` that is not HEED_OK is passed on. */
heed_status heed_onnx_put(heed_onnx_result *result, heed_onnx_evaluator *e, heed_onnx_array *array,
                          heed_status status, const char *name, heed_error *error);
/* Copies `from`; NULL: the evaluator's value. */
heed_status heed_onnx_give(heed_onnx_result *result, heed_onnx_evaluator *e, heed_onnx_id value,
                           const char *name, const heed_onnx_array *from, heed_error *error);
/* The graph's outputs and the weights of attentions, from an evaluator that has run. */
heed_status heed_onnx_give_results(heed_onnx_evaluator *e, const heed_onnx_attention_list *found,
                                   heed_onnx_result *result, heed_error *error);
/* What heed_onnx_result_unrounded gives. */
void heed_onnx_result_note(heed_onnx_result *result, uint32_t unrounded);
/* What heed_onnx_result_parts gives; copied. */
void heed_onnx_result_tell(heed_onnx_result *result, const char *parts);
/* "attention.3" */
void heed_onnx_map_name(uint32_t index, char name[32]);
heed_status heed_onnx_finish(heed_onnx_result *result, heed_error *error);

#endif
