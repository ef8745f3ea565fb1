// One type or attribute from a text of its own.
#include "syntax/reader.h"
#include "syntax/syntax.h"

static tsr_status finish(tsr_reader *reader, tsr_status status) {
  if (!status && !tsr_at_kind(reader, TSR_TOKEN_END))
    status = tsr_reader_expected(reader, "the end");
  tsr_reader_deinit(reader);
  return status;
}

tsr_status tsr_syntax_read_type(tsr_ir *ir, const char *text, size_t length,
                                const tsr_type **out_type) {
  tsr_reader reader;
  const tsr_type *type = NULL;
  tsr_reader_init(&reader, ir, "type", text, length);
  reader.one_line = true;
  tsr_status status = tsr_read_type(&reader, &type);
  status = finish(&reader, status);
  if (!status) *out_type = type;
  return status;
}

tsr_status tsr_syntax_read_attr(tsr_ir *ir, const char *text, size_t length,
                                const tsr_attr **out_attr) {
  tsr_reader reader;
  const tsr_attr *attr = NULL;
  tsr_reader_init(&reader, ir, "attribute", text, length);
  reader.one_line = true;
  tsr_status status = tsr_read_attr(&reader, NULL, &attr);
  status = finish(&reader, status);
  if (!status) *out_attr = attr;
  return status;
}
