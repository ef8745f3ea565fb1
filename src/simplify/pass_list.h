// Lists of passes: read, checked, run. Each room that has passes gives a table of them, made of its
// .def file; whoever runs a list says which tables it may name.
//
// A .def file has rows of two kinds:
//   PASS_OPTION(id, name, kind, words, summary)  an option that passes of the room may take
//   PASS(name, function, options, summary)       a pass: tsr_pass_<function>, and its options, as
//                                                in OPTION(ALL) | OPTION(OPS), or 0
#ifndef TESSERA_SIMPLIFY_PASS_LIST_H
#define TESSERA_SIMPLIFY_PASS_LIST_H

#include "ir/ir.h"

typedef enum tsr_pass_option_kind {
  TSR_PASS_BOOL,    // true or false; the name alone means true
  TSR_PASS_COUNT,   // a positive number
  TSR_PASS_CHOICE,  // one of `words`: the number is its place among them
  TSR_PASS_TEXT     // any text, in quotes if it has spaces or commas
} tsr_pass_option_kind;

typedef struct tsr_pass_option {
  const char *name;
  tsr_pass_option_kind kind;
  const char *words;  // CHOICE: "basic|aggressive"
  const char *summary;
} tsr_pass_option;

enum { TSR_PASS_OPTIONS_MOST = 32 };  // of one room

// What the options of one pass were set to, by their place in the room's table.
typedef struct tsr_pass_options {
  struct {
    bool given;
    int64_t number;    // BOOL, COUNT, CHOICE
    const char *text;  // TEXT
  } values[TSR_PASS_OPTIONS_MOST];
} tsr_pass_options;

static inline bool tsr_pass_flag(const tsr_pass_options *options, int option) {
  return options->values[option].number != 0;
}
static inline int64_t tsr_pass_number(const tsr_pass_options *options, int option,
                                      int64_t otherwise) {
  return options->values[option].given ? options->values[option].number : otherwise;
}

// Counts in `changes` the ops that it replaced, merged, dropped, inlined or changed.
typedef tsr_status tsr_pass_fn(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes);

typedef struct tsr_pass {
  const char *name;
  tsr_pass_fn *run;
  uint32_t options;  // bits of those it takes
  const char *summary;
} tsr_pass;

typedef struct tsr_pass_table {
  const tsr_pass *passes;
  int count;
  const tsr_pass_option *options;
  int option_count;
} tsr_pass_table;

typedef struct tsr_pass_change {
  const char *name;  // of the pass
  int64_t changes;
} tsr_pass_change;
typedef struct tsr_pass_report {
  tsr_pass_change *changes;  // one for each pass that ran, in order
  int count;
} tsr_pass_report;
void tsr_pass_report_deinit(tsr_pass_report *report);

// Runs passes on a verified program: a list such as "inline{all},fold{elements=1024},dce", where
// options are separated by commas or spaces. Names and options that do not exist are refused, with
// the nearest one, before the first pass runs. `out_report` may be NULL. After a failure the
// program is whole, but some passes have not run.
TSR_MUST_USE tsr_status tsr_pass_list_run(tsr_ir *ir, const tsr_pass_table *tables, int table_count,
                                          const char *list, tsr_pass_report *out_report);

#endif
