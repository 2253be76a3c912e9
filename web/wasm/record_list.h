/* THE list of what crosses to JavaScript as numbers, by name: records of fields, all doubles. C
 * makes structs of it (records.h), and each module hands it to JavaScript as text, by which
 * JavaScript names what it reads. SHAPE is a rank and as many dimensions. */

/* a block that the caller frees, and its elements */
RECORD(block, FIELD(address) FIELD(count))
/* the object that was made */
RECORD(opened, FIELD(address))
/* rules and assumed: addresses (0 = nothing was); run_height and run_width: of pixel_values, where
 * a session is given no size; each_class: of graphs */
RECORD(model, HEED_WEB_MODEL(FIELD) FIELD(rules) FIELD(assumed) FIELD(run_height) FIELD(run_width)
                  FIELD(each_class))
RECORD(text, HEED_WEB_TEXT(FIELD))
/* addresses of name, dtype and role (0 = none); layer of the role; used: 1 or 0 */
RECORD(tensor, FIELD(name) FIELD(dtype) FIELD(role) FIELD(layer) FIELD(bytes) FIELD(used) SHAPE)
/* pixels: address of pixel_values; frames, rows and columns of patches, of stages the last layer's
 */
RECORD(session, FIELD(session) FIELD(steps) FIELD(pixels) HEED_WEB_SESSION(FIELD))
RECORD(layer, HEED_WEB_LAYER(FIELD))
RECORD(memory, HEED_WEB_MEMORY(FIELD))
RECORD(step, FIELD(next))
RECORD(value, FIELD(address) FIELD(dtype) SHAPE)
/* Choices, which JavaScript passes in by the field's place: what a session keeps; heed_build_desc's
 * intervene and empty_row; heed_dtype; heed_fusion. */
RECORD(keep, FIELD(none) FIELD(rows) FIELD(all) FIELD(named))
RECORD(intervene, FIELD(never) FIELD(zero) FIELD(nan) FIELD(mean))
RECORD(dtype, FIELD(f32) FIELD(f16) FIELD(bf16) FIELD(u8) FIELD(i32))
RECORD(fusion, FIELD(mean) FIELD(min) FIELD(max))
/* heed_curve_kind */
RECORD(curves, FIELD(both) FIELD(tokens) FIELD(pixels))
/* What JavaScript passes to explain, of heed_explain_desc; layer below 0: none; keep: 1 or 0;
 * pictures, rows and columns of the maps over patches */
RECORD(explaining, HEED_WEB_EXPLAINING(FIELD))

/* of a WebGPU device: heed_gpu_limits; half: weights in fp16 */
RECORD(gpu_limits, HEED_WEB_GPU_LIMITS(FIELD))
/* of the self-check; worst: the address of an op's name, with its kernel's */
RECORD(gpu_check, FIELD(passed) FIELD(max_error) FIELD(worst))

/* what the model sees of a picture */
RECORD(region, FIELD(x) FIELD(y) FIELD(width) FIELD(height))
RECORD(statistics, HEED_WEB_STATISTICS(FIELD))
/* an input that changes stand for; name: its address; dtype: heed_dtype */
RECORD(input, FIELD(name) FIELD(dtype) FIELD(address) FIELD(bytes))
/* addresses of op and worst; valid until the next check */
RECORD(check, FIELD(passed) FIELD(max_abs) FIELD(max_rel) FIELD(op) FIELD(worst) SHAPE)
/* addresses of text, owner and RGBA; side in pixels, grid in patches */
RECORD(scene, FIELD(text) FIELD(owner) FIELD(rgba) FIELD(side) FIELD(grid) HEED_WEB_TWINS(FIELD))
/* a file as .safetensors: its size; shares: 1 where two tensors share bytes */
RECORD(reader, FIELD(address) FIELD(size) FIELD(shares))
/* addresses of the tokenizer, of its kind and of what it assumes (0: nothing); ids, -1 = none;
 * most: 0 = not bounded */
RECORD(tokenizer, FIELD(address) FIELD(kind) FIELD(assumed) FIELD(vocabulary) FIELD(begin)
                      FIELD(end) FIELD(padding) FIELD(most))
/* of a text; whole: without truncation */
RECORD(ids, FIELD(count) FIELD(whole))
/* which way an ONNX file runs, heed_onnx_run_way */
RECORD(way, FIELD(either) FIELD(weights) FIELD(graph))
/* what came of it: the model of its weights, or 0; the side of a graph's images, or 0 */
RECORD(chosen, FIELD(address) FIELD(side))
/* an input or output of a graph: addresses of name and dtype (0 = none); shaped: 1 or 0; an axis of
 * -1 is open */
RECORD(port, FIELD(name) FIELD(dtype) FIELD(shaped) SHAPE)
/* a lowered graph: activations that are not rounded */
RECORD(lowered, FIELD(unrounded))
