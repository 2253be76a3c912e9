/* A model that was opened, of any kind: what all have, and the functions in which kinds differ. */
#ifndef HEED_MODEL_FILES_MODEL_TYPE_H
#define HEED_MODEL_FILES_MODEL_TYPE_H

#include "base/context.h"
#include "model/files/checkpoint.h"

/* The struct of a kind begins with its heed_model. */
typedef struct heed_model_type {
  size_t size; /* of that struct */
  /* Reads headers and config into a zeroed struct, and fills `info`; what it made is closed also
   * after a failure. */
  heed_status (*open)(heed_model *model, const heed_model_desc *desc, heed_error *error);
  /* Frees what `open` made, the checkpoint excepted; NULL = there is nothing else. */
  void (*close)(heed_model *model);
  /* heed_model_build; desc is whole, with the caller's zeros. */
  heed_status (*build)(const heed_model *model, const heed_build_desc *desc, heed_graph **graph,
                       heed_error *error);
  /* heed_model_label, NULL where no file names that class; or NULL: it names no classes */
  const char *(*label)(const heed_model *model, uint32_t index);
  /* What of a layer is another than the model's; NULL = nothing. rows and columns are those of all
   * patches. Statuses: INVALID_ARGUMENT. */
  heed_status (*layer)(const heed_model *model, uint32_t layer, heed_layer_info *info,
                       heed_error *error);
} heed_model_type;

struct heed_model {
  heed_context *context;
  uint64_t serial; /* heed_share_serial */
  const heed_model_type *type;
  heed_checkpoint *checkpoint;
  heed_model_info info;
  heed_preprocess preprocess; /* of one that takes images */
  heed_error unprepared;      /* why there is none; the status OK where there is */
};

/* A zeroed model of a kind, for its `open`; heed_model_destroy frees it. Statuses: OUT_OF_MEMORY.
 */
heed_status heed_model_make(heed_context *context, const heed_model_type *type, heed_model **model,
                            heed_error *error);

/* Opens the files as that kind. Statuses: INVALID_ARGUMENT, those of its `open`. */
heed_status heed_model_open_type(heed_context *context, const heed_model_type *type,
                                 const heed_model_desc *desc, heed_model **model,
                                 heed_error *error);

/* Keeps what heed_config_preprocess gave: a model opens without it. Returns whether there is one.
 */
bool heed_model_keep_preprocess(heed_model *model, heed_status status, const heed_error *why);

#endif
