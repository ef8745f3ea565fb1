// How files of each kind are opened.
#include "corpus/corpus.h"
#include "tessera/checkpoint.h"

static tsr_status open_checkpoint(const char *path, tsr_text *warnings) {
  tsr_checkpoint *checkpoint = NULL;
  TSR_TRY(tsr_checkpoint_open(path, NULL, &checkpoint));
  tsr_text_add(warnings, tsr_checkpoint_warnings(checkpoint));
  tsr_checkpoint_release(checkpoint);
  return NULL;
}

static tsr_status open_file(const test_folder *folder, tsr_text *warnings) {
  return open_checkpoint(test_folder_path(folder, "model.safetensors"), warnings);
}

static tsr_status open_folder(const test_folder *folder, tsr_text *warnings) {
  return open_checkpoint(folder->path, warnings);
}

const corpus_kind corpus_kinds[] = {
    {.name = "safetensors", .open = open_file, .checkpoint = true, .least = 60},
    {.name = "index", .open = open_folder, .checkpoint = true, .least = 40},
};
const int corpus_kind_count = COUNT_OF(corpus_kinds);
