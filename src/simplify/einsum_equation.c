// An einsum's text is split at ',' and "->"; an ellipsis takes the dimensions that the letters of
// its operand leave.
#include "simplify/einsum_equation.h"

#include <stdbool.h>
#include <string.h>

typedef struct equation_reader {
  const char *at, *end;
  int widest;  // dimensions of the largest ellipsis; -1 = there is none
} equation_reader;

void tsr_einsum_label_name(int label, char out_name[4]) {
  memcpy(out_name, "...", 4);
  if (label >= TSR_EINSUM_LETTERS) return;
  out_name[0] = (char)(label < 26 ? 'A' + label : 'a' + label - 26);
  out_name[1] = 0;
}

static int label_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  return -1;
}

static bool is_at(const equation_reader *reader, const char *word) {
  const size_t length = strlen(word);
  return (size_t)(reader->end - reader->at) >= length && !memcmp(reader->at, word, length);
}

static void skip_spaces(equation_reader *reader) {
  while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t')) reader->at++;
}

static tsr_status add_label(tsr_einsum_term *term, int label) {
  if (term->count == TSR_MAX_RANK)
    return tsr_fail(BAD_ARGUMENT, "more than %d labels for one operand", TSR_MAX_RANK);
  term->labels[term->count++] = label;
  return NULL;
}

// Letters up to ',' or "->". An ellipsis is the label -1 until its width is known.
static tsr_status read_term(equation_reader *reader, tsr_einsum_term *term) {
  bool ellipsis = false;
  term->count = 0;
  for (skip_spaces(reader); reader->at < reader->end; skip_spaces(reader)) {
    if (*reader->at == ',' || is_at(reader, "->")) return NULL;
    const bool dots = is_at(reader, "...");
    const int label = dots ? -1 : label_of(*reader->at);
    if (dots ? ellipsis : label < 0)
      return tsr_fail(SYNTAX, "at \"%.8s\", expected a letter, ',', \"->\" or one \"...\"",
                      reader->at);
    TSR_TRY(add_label(term, label));
    ellipsis |= dots;
    reader->at += dots ? 3 : 1;
  }
  return NULL;
}

static int ellipsis_at(const tsr_einsum_term *term) {
  for (int i = 0; i < term->count; i++)
    if (term->labels[i] < 0) return i;
  return -1;
}

// Replaces the ellipsis by `width` labels; the last dimension has the first of them.
static tsr_status widen(tsr_einsum_term *term, int width) {
  const int at = ellipsis_at(term);
  if (at < 0) return NULL;
  if (term->count - 1 + width > TSR_MAX_RANK)
    return tsr_fail(BAD_ARGUMENT, "more than %d dimensions", TSR_MAX_RANK);
  const int after = term->count - at - 1;
  memmove(term->labels + at + width, term->labels + at + 1, sizeof(int) * (size_t)after);
  for (int i = 0; i < width; i++) term->labels[at + i] = TSR_EINSUM_LETTERS + width - 1 - i;
  term->count += width - 1;
  return NULL;
}

static tsr_status fit_rank(equation_reader *reader, tsr_einsum_term *term, int rank, int index) {
  const bool ellipsis = ellipsis_at(term) >= 0;
  const int letters = term->count - ellipsis;
  if (ellipsis ? letters > rank : letters != rank)
    return tsr_fail(BAD_ARGUMENT, "operand %d has %d dimensions, the equation has %s%d", index,
                    rank, ellipsis ? "at least " : "", letters);
  if (ellipsis && rank - letters > reader->widest) reader->widest = rank - letters;
  return widen(term, rank - letters);
}

static tsr_status read_operands(equation_reader *reader, const int *ranks, int count,
                                tsr_einsum_equation *equation) {
  equation->operand_count = count;
  for (int i = 0; i < count; i++) {
    TSR_TRY(read_term(reader, &equation->operands[i]));
    const bool comma = reader->at < reader->end && *reader->at == ',';
    if (comma != (i + 1 < count))
      return tsr_fail(BAD_ARGUMENT, "the equation has %s operands than the %d given",
                      comma ? "more" : "fewer", count);
    reader->at += comma;
    TSR_TRY(fit_rank(reader, &equation->operands[i], ranks[i], i));
  }
  return NULL;
}

static void count_labels(const tsr_einsum_equation *equation, int counts[TSR_EINSUM_LABELS]) {
  memset(counts, 0, sizeof(int) * TSR_EINSUM_LABELS);
  for (int i = 0; i < equation->operand_count; i++)
    for (int j = 0; j < equation->operands[i].count; j++) counts[equation->operands[i].labels[j]]++;
}

// Without "->": the ellipsis, then the letters that occur once.
static tsr_status imply_result(const equation_reader *reader, tsr_einsum_equation *equation) {
  int counts[TSR_EINSUM_LABELS];
  count_labels(equation, counts);
  equation->result.count = 0;
  for (int i = reader->widest - 1; i >= 0; i--)
    TSR_TRY(add_label(&equation->result, TSR_EINSUM_LETTERS + i));
  for (int label = 0; label < TSR_EINSUM_LETTERS; label++)
    if (counts[label] == 1) TSR_TRY(add_label(&equation->result, label));
  return NULL;
}

static tsr_status check_result(const tsr_einsum_equation *equation) {
  int counts[TSR_EINSUM_LABELS];
  count_labels(equation, counts);
  bool seen[TSR_EINSUM_LABELS] = {false};
  for (int i = 0; i < equation->result.count; i++) {
    const int label = equation->result.labels[i];
    char name[4];
    tsr_einsum_label_name(label, name);
    if (!counts[label])
      return tsr_fail(BAD_ARGUMENT, "label \"%s\" of the result is in no operand", name);
    if (seen[label]) return tsr_fail(BAD_ARGUMENT, "label \"%s\" is twice in the result", name);
    seen[label] = true;
  }
  return NULL;
}

static tsr_status read_result(equation_reader *reader, tsr_einsum_equation *equation) {
  if (!is_at(reader, "->")) return imply_result(reader, equation);
  reader->at += 2;
  TSR_TRY(read_term(reader, &equation->result));
  const int ellipsis = ellipsis_at(&equation->result);
  if (ellipsis >= 0) TSR_TRY(widen(&equation->result, reader->widest < 0 ? 0 : reader->widest));
  if (reader->at < reader->end)
    return tsr_fail(SYNTAX, "at \"%.8s\", expected the end", reader->at);
  return check_result(equation);
}

tsr_status tsr_einsum_parse(const char *text, const int *ranks, int count,
                            tsr_einsum_equation *out_equation) {
  if (count < 1 || count > TSR_EINSUM_OPERANDS)
    return tsr_fail(BAD_ARGUMENT, "%d operands, expected 1 to %d", count, TSR_EINSUM_OPERANDS);
  equation_reader reader = {.at = text, .end = text + strlen(text), .widest = -1};
  TSR_TRY(read_operands(&reader, ranks, count, out_equation));
  return read_result(&reader, out_equation);
}
