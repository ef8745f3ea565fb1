// Files are recognised by name. A single file with an unknown name is opened, since it may still be
// a checkpoint.
#include "job/replaceable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/text_internal.h"
#include "format/format.h"
#include "job/journal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"

enum { SHOWN = 3 };

// ---- names ----

// Files that usually accompany them. Names a user may choose, such as notes.txt, are not listed.
static const char *const companions[] = {"*config*.json",
                                         "*config*.yaml",
                                         "tokenizer*",
                                         "vocab*",
                                         "merges.txt",
                                         "special_tokens_map.json",
                                         "added_tokens.json",
                                         "chat_template*",
                                         "*.tiktoken",
                                         "*.model",
                                         "params.json",
                                         "modules.json",
                                         "model_index.json",
                                         "trainer_state.json",
                                         "training_args.bin",
                                         "recipe.yaml",
                                         "README*",
                                         "LICENSE*",
                                         "NOTICE*",
                                         "USE_POLICY*",
                                         ".gitattributes",
                                         "modeling_*.py",
                                         "configuration_*.py",
                                         "tokenization_*.py",
                                         "processing_*.py",
                                         "image_processing_*.py",
                                         NULL};

static bool matches(const char *const *patterns, const char *name) {
  for (; *patterns; patterns++)
    if (!fnmatch(*patterns, name, 0)) return true;
  return false;
}

static bool is_extra(const tsr_extras *extras, const char *name) {
  for (int64_t i = 0; extras && i < extras->count; i++)
    if (!strcmp(extras->items[i].name, name)) return true;
  return false;
}

// ---- folders ----

typedef struct folder_contents {
  int64_t tensors, companions, others;
  char names[SHOWN][NAME_MAX + 1];  // of the first others, sorted
} folder_contents;

static void add_other(folder_contents *f, const char *name) {
  int at = f->others < SHOWN ? (int)f->others : SHOWN;
  f->others++;
  while (at > 0 && strcmp(name, f->names[at - 1]) < 0) at--;
  if (at == SHOWN) return;
  memmove(f->names[at + 1], f->names[at], sizeof *f->names * (size_t)(SHOWN - 1 - at));
  snprintf(f->names[at], sizeof f->names[at], "%s", name);
}

// A checkpoint has no folders in it.
static tsr_status look_at(const char *folder, const char *name, const tsr_extras *extras,
                          folder_contents *f) {
  char path[PATH_MAX];
  struct stat info;
  bool there = false;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX)
    return tsr_fail(TOO_LARGE, "%s/%s: the path is longer than %d bytes", folder, name, PATH_MAX);
  TSR_TRY(tsr_io_look(path, &there, &info));
  if (!there) return NULL;  // just removed
  const bool file = !S_ISDIR(info.st_mode);
  if (file && tsr_formats_own(name))
    f->tensors++;
  else if (file && (matches(companions, name) || is_extra(extras, name)))
    f->companions++;
  else
    add_other(f, name);
  return NULL;
}

static tsr_status list(const char *folder, const tsr_extras *extras, folder_contents *f) {
  tsr_status status = NULL;
  DIR *listing = opendir(folder);
  if (!listing) return tsr_fail(IO, "%s: cannot list the folder: %s", folder, strerror(errno));
  for (const char *name = "."; name && !status;) {
    status = tsr_io_next_name(listing, folder, &name);
    if (!status && name) status = look_at(folder, name, extras, f);
  }
  closedir(listing);
  return status;
}

static tsr_status refuse(const char *folder, const folder_contents *f) {
  tsr_text names = TSR_TEXT_EMPTY;
  for (int i = 0; i < SHOWN && i < f->others; i++)
    tsr_text_addf(&names, "%s\"%s\"", i ? ", " : "", f->names[i]);
  if (f->others > SHOWN) tsr_text_addf(&names, " and %lld more", (long long)f->others - SHOWN);
  tsr_status status = tsr_text_check(&names);
  if (!status)
    status = tsr_fail(
        ALREADY_THERE, "%s: replacing it would delete %s, %s; move that away, or write elsewhere",
        folder, tsr_text_string(&names),
        f->tensors ? "which does not belong to a checkpoint" : "and it holds no checkpoint");
  tsr_text_deinit(&names);
  return status;
}

static tsr_status check_folder(const char *folder, const tsr_extras *extras) {
  folder_contents f = {0};
  TSR_TRY(list(folder, extras, &f));
  if (f.others) return refuse(folder, &f);
  if (f.tensors || !f.companions) return NULL;
  return tsr_fail(ALREADY_THERE,
                  "%s: it is not replaced, since it holds no checkpoint; remove it first, or write "
                  "elsewhere",
                  folder);
}

// ---- what is there ----

static tsr_status check_file(const char *path) {
  const char *slash = strrchr(path, '/');
  tsr_checkpoint *checkpoint = NULL;
  if (tsr_formats_own(slash ? slash + 1 : path)) return NULL;
  tsr_status status = tsr_checkpoint_open(path, NULL, &checkpoint);
  if (!status) tsr_checkpoint_release(checkpoint);
  const tsr_code code = tsr_status_code(status);
  if (!status || code == TSR_CODE_IO || code == TSR_CODE_NO_MEMORY) return status;
  tsr_status_free(status);
  return tsr_fail(ALREADY_THERE,
                  "%s: it is not replaced, since it is not a checkpoint; remove it first, or write "
                  "elsewhere",
                  path);
}

tsr_status tsr_replaceable_check(const char *path, const tsr_extras *extras) {
  struct stat info;
  bool there = false;
  TSR_TRY(tsr_io_look(path, &there, &info));
  if (!there || S_ISLNK(info.st_mode)) return NULL;
  if (S_ISDIR(info.st_mode)) return check_folder(path, extras);
  return S_ISREG(info.st_mode) && info.st_size == 0 ? NULL : check_file(path);
}

tsr_status tsr_replaceable_check_left(const char *partial, const char *journal) {
  tsr_journal_state state;
  struct stat info;
  bool there = false;
  TSR_TRY(tsr_journal_look(journal, &state));
  if (state.other)
    return tsr_fail(
        ALREADY_THERE,
        "%s: it is not a journal of an unfinished job, but has the name of one; move it "
        "away, or write elsewhere",
        journal);
  TSR_TRY(tsr_io_look(journal, &there, &info));
  if (there) return NULL;
  return tsr_replaceable_check(partial, NULL);
}

// ---- mount points ----

// statx says so since Linux 5.8. Before, another file system has another device number.
static bool is_mount_point(const char *path, const char *parent) {
  struct statx about;
  struct stat own, above;
  if (!statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &about) &&
      (about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
    return (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  return !lstat(path, &own) && !stat(parent, &above) && own.st_dev != above.st_dev;
}

tsr_status tsr_replaceable_check_mount(const char *path, const char *parent) {
  if (!is_mount_point(path, parent)) return NULL;
  return tsr_fail(
      UNSUPPORTED,
      "%s: it is a mount point, which cannot be replaced; write to a name in it, as %s/model", path,
      path);
}
