// Metadata as JSON, for formats whose files have no place of their own for it.
#ifndef TESSERA_STORE_CHECKPOINT_METADATA_H
#define TESSERA_STORE_CHECKPOINT_METADATA_H

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/status.h"
#include "tessera/text.h"

// Adds the members of an object, a value of `doc`. NULL adds nothing; other kinds are refused.
TSR_MUST_USE tsr_status tsr_checkpoint_read_metadata(tsr_checkpoint *checkpoint,
                                                     const tsr_json_doc *doc,
                                                     const tsr_json *value);

// The record of a .npz archive; empty without metadata. Records of other programs are ignored.
TSR_MUST_USE tsr_status tsr_metadata_write_record(const tsr_metadata *items, int64_t count,
                                                  tsr_text *out);
TSR_MUST_USE tsr_status tsr_checkpoint_read_record(tsr_checkpoint *checkpoint, const char *text,
                                                   size_t length);

#endif
