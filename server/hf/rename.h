/** Names of tensors, where a class or a wrapper keeps a model under another attribute. */
#ifndef SL_HF_RENAME_H
#define SL_HF_RENAME_H

#include "shardline/model.h"

/** Every name, with its kind's prefix, that begins with `from` begins with `to` instead. */
void sl_hf_rename(sl_model *model, const char *from, const char *to);

#endif
