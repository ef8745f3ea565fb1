// Folders with any mixture of files: what is wrong is told without a crash, and what is mended is
// sound.
#include "fuzz_folder.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/status.h"

// Each part opens with a letter that says which file it is; those in capitals are safetensors.
static void write_part(const fuzz_folder *folder, int part) {
  static const char *const texts[] = {"model.safetensors.index.json",
                                      "config.json",
                                      "manifest.json",
                                      "tessera-plan.json",
                                      "model.safetensors",
                                      "x.partial",
                                      "y.npy",
                                      "model-00001-of-00002.safetensors"};
  static const char *const tensors[] = {"model.safetensors",
                                        "model-00001-of-00002.safetensors",
                                        "model-00002-of-00002.safetensors",
                                        "data.safetensors",
                                        "rank_0.safetensors",
                                        "rank_1.safetensors",
                                        "surplus.safetensors",
                                        "model-00003-of-00003.safetensors"};
  fuzz_folder rest = *folder;
  if (!rest.parts[part].length) return;
  const char letter = *rest.parts[part].bytes++;
  rest.parts[part].length--;
  if (letter >= 'a' && letter < 'a' + 8)
    fuzz_write(&rest, part, texts[letter - 'a']);
  else
    fuzz_write_tensors(&rest, part, tensors[letter & 7]);
}

static void mend(const fuzz_folder *folder) {
  const tsr_fsck_options options = {
      .size = sizeof options, .repair = true, .deep = true, .jobs = 1};
  tsr_fsck *fsck = NULL;
  tsr_status status = tsr_fsck_run(folder->path, &options, &fsck);
  assert(!status);
  const bool repaired = tsr_fsck_repaired(fsck);
  tsr_fsck_destroy(fsck);
  if (!repaired) return;
  status = tsr_fsck_run(folder->path, &options, &fsck);
  assert(!status && !tsr_fsck_repaired(fsck));
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++) assert(!tsr_fsck_at(fsck, i)->repairable);
  tsr_fsck_destroy(fsck);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_folder folder;
  fuzz_folder_make(data, size, &folder);
  for (int i = 0; i < folder.count; i++) write_part(&folder, i);
  mend(&folder);
  fuzz_folder_remove(&folder);
  return 0;
}
