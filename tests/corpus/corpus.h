// Damaged files as text: what a good folder holds, how each case changes it, and what is said then.
//
// A .cases file is made of blocks, parted by empty lines; lines that open with '#' are comments.
// The block `good` spells out a folder that is accepted, until another one is given:
//
//   good                        case a shape with a negative size
//   file model.safetensors      - [2,3]
//   head {"a":{"dtype":...      + [-2,3]
//   data 24                     > bad_argument: DIR/model.safetensors: tensor "a" at byte 14: ...
//
// Lines of a block:
//   file NAME          the file that the lines after it spell out anew
//   | TEXT             a line of it
//   raw TEXT           bytes of it, no newline
//   head TEXT          a safetensors header, with its length before it
//   data N             N bytes at the end, whatever they are
//   in NAME            the file that the lines after it change; at first, the first one
//   - OLD, + NEW       replaces the only place where OLD stands
//   length N           what its header tells of its length
//   cut N, cut -N      keeps the first N bytes, drops the last N
//   add TEXT           at its end
//   gone, folder       it is not there, or a folder
//   link TO            it is a link
//   > CAUSE: MESSAGE   what is said, with DIR for the folder; "accepted" and the warnings if it is
//                      not refused; in fsck.cases, every fault that is found
//
// In TEXT, \n, \t, \r, \\ and \xNN are bytes, and \*13c is 13 times c.
#ifndef TESSERA_TESTS_CORPUS_CORPUS_H
#define TESSERA_TESTS_CORPUS_CORPUS_H

#include "support/folder.h"
#include "tessera/text.h"

enum { CORPUS_FILES = 8 };

typedef enum corpus_form { CORPUS_FILE, CORPUS_GONE, CORPUS_FOLDER, CORPUS_LINK } corpus_form;

typedef struct corpus_file {
  char name[64];
  corpus_form form;
  char target[128];  // of a link
  bool has_head, has_length;
  uint64_t length;
  int64_t data, cut;  // 0 and INT64_MAX = as it is
  tsr_text head, body, added;
} corpus_file;

// A folder; `current` is the file that lines change.
typedef struct corpus_folder {
  corpus_file files[CORPUS_FILES];
  int count, current;
} corpus_folder;

void corpus_folder_clear(corpus_folder *folder);
void corpus_folder_copy(const corpus_folder *from, corpus_folder *to);
// One line of a block; false if it is none that is known.
bool corpus_folder_change(corpus_folder *folder, const char *line);
void corpus_folder_make(const corpus_folder *folder, const test_folder *where);
// The bytes of a file as they are written.
void corpus_file_bytes(const corpus_file *file, tsr_text *out);

// How files of one kind are opened: what is refused, or the warnings.
typedef tsr_status corpus_open(const test_folder *folder, tsr_text *warnings);
typedef struct corpus_kind {
  const char *name;
  corpus_open *open;
  bool checkpoint;   // fsck has to find an error exactly when it is refused
  const char *file;  // that is the checkpoint; NULL = the folder is
  bool report;       // what is said are all warnings, a line each; nothing is refused
  int least;         // so many are refused
} corpus_kind;
extern const corpus_kind corpus_kinds[];
extern const int corpus_kind_count;

typedef struct corpus_answer {
  tsr_text text;
  bool refused, fsck_agrees;
} corpus_answer;
corpus_answer corpus_ask(const corpus_kind *kind, const corpus_folder *folder);

typedef struct corpus_block {
  const char *name;  // of the case; NULL = good
  corpus_folder folder;
  tsr_text wanted;
  const char *start;  // in the text
  size_t length;
  char *copy;
} corpus_block;
// The first block at or after `text`; false if there is none.
bool corpus_block_next(const char *text, const corpus_folder *good, corpus_block *out);
// Done with it; a good one becomes that of the next cases.
void corpus_block_end(corpus_block *block, corpus_folder *good);

// The .cases of a kind, and where they are from the root of the project; the caller frees the text.
char *corpus_read(const corpus_kind *kind, char out_path[static 128]);
// Writes what is said now into the .cases of all kinds.
void corpus_update(void);

#endif
