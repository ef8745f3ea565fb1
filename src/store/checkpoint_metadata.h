// Metadata of NumPy's files, which have no place for it of their own.
#ifndef TESSERA_STORE_CHECKPOINT_METADATA_H
#define TESSERA_STORE_CHECKPOINT_METADATA_H

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/status.h"
#include "tessera/text.h"

// Adds what an object says, a value of `doc`; NULL says nothing, anything else is refused.
TSR_MUST_USE tsr_status tsr_checkpoint_read_metadata(tsr_checkpoint *checkpoint,
                                                     const tsr_json_doc *doc,
                                                     const tsr_json *value);

// The record of an archive: none without metadata. One that others wrote is passed over.
TSR_MUST_USE tsr_status tsr_metadata_write_record(const tsr_metadata *items, int64_t count,
                                                  tsr_text *out);
TSR_MUST_USE tsr_status tsr_checkpoint_read_record(tsr_checkpoint *checkpoint, const char *text,
                                                   size_t length);

#endif
