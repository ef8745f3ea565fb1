// The index of a Hugging Face folder, and the check that compares it with the files.
#ifndef TESSERA_FORMAT_FOLDER_CHECK_H
#define TESSERA_FORMAT_FOLDER_CHECK_H

#include "format/fsck_report.h"
#include "tessera/text.h"

typedef struct tsr_folder_entry {
  const char *tensor, *file;
} tsr_folder_entry;

// As Hugging Face's libraries write it, without the last newline. They sort entries by tensor.
void tsr_folder_write_index(const tsr_folder_entry *entries, int64_t count, int64_t bytes,
                            tsr_text *out);
int tsr_folder_by_tensor(const void *left, const void *right);

TSR_MUST_USE tsr_status tsr_folder_check(tsr_fsck *fsck);

#endif
