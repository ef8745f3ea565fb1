// Local headers and the directory of a zip archive are written into memory with checksums of 0,
// whose offsets are kept. When a member's bytes are known, tsr_zip_plan_set_crc fills its checksum
// in.
#include "file/zip_plan.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/text_internal.h"
#include "file/zip.h"

enum {
  MOST_AT_ONCE = 1 << 30,  // zlib counts in 32 bits
  CRC_AT_LOCAL = 14,
  CRC_AT_ENTRY = 16,
  FIELD = 4,            // bytes before an extra field's
  PADDING_ID = 0xd935,  // as Android's tools write it
};

uint32_t tsr_zip_crc(uint32_t crc, const void *bytes, int64_t length) {
  const unsigned char *at = bytes;
  for (int64_t left = length; left > 0;) {
    const uInt step = (uInt)(left < MOST_AT_ONCE ? left : MOST_AT_ONCE);
    crc = (uint32_t)crc32(crc, at, step);
    at += step;
    left -= step;
  }
  return crc;
}

uint32_t tsr_zip_crc_join(uint32_t crc, uint32_t next, int64_t next_length) {
  return (uint32_t)crc32_combine(crc, next, next_length);
}

// ---- headers and entries ----

static void add_number(tsr_text *out, uint64_t value, int width) {
  for (int i = 0; i < width; i++) tsr_text_add_char(out, (char)(unsigned char)(value >> 8 * i));
}

static uint64_t or_ones(uint64_t value, bool is_64) { return is_64 ? 0xffffffff : value; }

// The common fields of a local header and a directory entry: versions to sizes. The date is zip's
// first, so that equal arrays make equal archives.
static void add_facts(tsr_text *out, bool is_64, const char *name, uint64_t size) {
  bool ascii = true;
  for (const char *c = name; *c; c++) ascii &= (signed char)*c > 0;
  add_number(out, is_64 ? 45 : 20, 2);
  add_number(out, ascii ? 0 : 1 << 11, 2);  // names are UTF-8
  add_number(out, 0, 2);                    // stored
  add_number(out, 0, 2);
  add_number(out, 0x21, 2);  // 1 January 1980
  add_number(out, 0, 4);     // the checksum, until it is known
  add_number(out, or_ones(size, is_64), 4);
  add_number(out, or_ones(size, is_64), 4);
  add_number(out, strlen(name), 2);
}

// The size of a padding field that aligns what follows it.
static uint64_t padding(int64_t begin) {
  const uint64_t off = (uint64_t)begin % TSR_ZIP_ALIGNMENT;
  const uint64_t pad = off ? TSR_ZIP_ALIGNMENT - off : 0;
  return pad == 0 || pad >= FIELD ? pad : pad + TSR_ZIP_ALIGNMENT;
}

static void add_local(tsr_text *out, bool is_64, const char *name, uint64_t size, int64_t header) {
  const uint64_t extra_64 = is_64 ? 20 : 0;
  const uint64_t pad = padding(header + TSR_ZIP_LOCAL_BYTES + (int64_t)(strlen(name) + extra_64));
  add_number(out, TSR_ZIP_LOCAL, 4);
  add_facts(out, is_64, name, size);
  add_number(out, extra_64 + pad, 2);
  tsr_text_add(out, name);
  if (is_64) {
    add_number(out, 1, 2);
    add_number(out, 16, 2);
    add_number(out, size, 8);
    add_number(out, size, 8);
  }
  if (!pad) return;
  add_number(out, PADDING_ID, 2);
  add_number(out, pad - FIELD, 2);
  for (uint64_t i = 0; i < pad - FIELD; i++) tsr_text_add_char(out, '\0');
}

static void add_entry(tsr_text *out, bool is_64, const char *name, const char *note, uint64_t size,
                      uint64_t header) {
  const uint64_t extra_64 = is_64 ? 28 : 0, extra_note = note ? FIELD + strlen(note) : 0;
  add_number(out, TSR_ZIP_ENTRY, 4);
  add_number(out, is_64 ? 45 : 20, 2);
  add_facts(out, is_64, name, size);
  add_number(out, extra_64 + extra_note, 2);
  add_number(out, 0, 2);  // comment
  add_number(out, 0, 2);  // disk
  add_number(out, 0, 2);  // kinds of file
  add_number(out, 0, 4);
  add_number(out, or_ones(header, is_64), 4);
  tsr_text_add(out, name);
  if (is_64) {
    add_number(out, 1, 2);
    add_number(out, 24, 2);
    add_number(out, size, 8);
    add_number(out, size, 8);
    add_number(out, header, 8);
  }
  if (!note) return;
  add_number(out, TSR_ZIP_NOTE, 2);
  add_number(out, strlen(note), 2);
  tsr_text_add(out, note);
}

// ---- the plan ----

tsr_status tsr_zip_plan_add(tsr_zip_plan *plan, const char *name, const char *note,
                            const void *head, int64_t head_length, int64_t rest,
                            int64_t *out_begin) {
  tsr_zip_planned *members = tsr_grow(plan->members, plan->count, &plan->capacity, sizeof *members);
  int64_t size = 0, end = 0;
  if (!members) return tsr_fail(NO_MEMORY, "an archive of %lld members", (long long)plan->count);
  plan->members = members;
  if (__builtin_add_overflow(head_length, rest, &size))
    return tsr_fail(OVERFLOW, "an archive of more than 2^63 bytes");
  const bool is_64 = plan->always_64 || size >= 0xffffffff || plan->size >= 0xffffffff;
  tsr_zip_planned m = {.header = plan->size,
                       .text = plan->text.length,
                       .local_crc = plan->text.length + CRC_AT_LOCAL,
                       .entry_crc = plan->directory.length + CRC_AT_ENTRY,
                       .head_crc = tsr_zip_crc(0, head, head_length),
                       .rest = rest};
  add_local(&plan->text, is_64, name, (uint64_t)size, m.header);
  tsr_text_add_bytes(&plan->text, head, (size_t)head_length);
  add_entry(&plan->directory, is_64, name, note, (uint64_t)size, (uint64_t)m.header);
  TSR_TRY(tsr_text_check(&plan->text));
  TSR_TRY(tsr_text_check(&plan->directory));
  m.length = plan->text.length - m.text;
  *out_begin = m.header + (int64_t)m.length;
  if (__builtin_add_overflow(*out_begin, rest, &end))
    return tsr_fail(OVERFLOW, "an archive of more than 2^63 bytes");
  plan->size = end;
  members[plan->count++] = m;
  tsr_zip_plan_set_crc(plan, plan->count - 1, 0);
  return NULL;
}

static void add_end_64(tsr_text *out, uint64_t count, uint64_t size, uint64_t begin) {
  add_number(out, TSR_ZIP_END_64, 4);
  add_number(out, 44, 8);  // bytes of it that follow
  add_number(out, 45, 2);
  add_number(out, 45, 2);
  add_number(out, 0, 8);  // disks
  add_number(out, count, 8);
  add_number(out, count, 8);
  add_number(out, size, 8);
  add_number(out, begin, 8);
  add_number(out, TSR_ZIP_LOCATOR, 4);
  add_number(out, 0, 4);
  add_number(out, begin + size, 8);
  add_number(out, 1, 4);
}

static tsr_status add_record(tsr_zip_plan *plan, const char *record, size_t length) {
  if (!length) return NULL;
  if (length > TSR_ZIP_MOST_RECORD)
    return tsr_fail(TOO_LARGE, "a record of %zu bytes; an archive takes at most %d", length,
                    TSR_ZIP_MOST_RECORD);
  add_number(&plan->record, TSR_ZIP_RECORD, 4);
  add_number(&plan->record, length, 4);
  tsr_text_add_bytes(&plan->record, record, length);
  TSR_TRY(tsr_text_check(&plan->record));
  if (__builtin_add_overflow(plan->size, (int64_t)plan->record.length, &plan->size))
    return tsr_fail(OVERFLOW, "an archive of more than 2^63 bytes");
  return NULL;
}

tsr_status tsr_zip_plan_end(tsr_zip_plan *plan, const char *record, size_t length) {
  tsr_text *out = &plan->directory;
  TSR_TRY(add_record(plan, record, length));
  const uint64_t count = (uint64_t)plan->count, begin = (uint64_t)plan->size, size = out->length;
  const bool is_64 =
      plan->always_64 || count >= 0xffff || begin >= 0xffffffff || size >= 0xffffffff;
  if (is_64) add_end_64(out, count, size, begin);
  add_number(out, TSR_ZIP_END, 4);
  add_number(out, 0, 4);  // disks
  add_number(out, is_64 ? 0xffff : count, 2);
  add_number(out, is_64 ? 0xffff : count, 2);
  add_number(out, or_ones(size, is_64), 4);
  add_number(out, or_ones(begin, is_64), 4);
  add_number(out, 0, 2);  // comment
  TSR_TRY(tsr_text_check(out));
  if (__builtin_add_overflow(plan->size, (int64_t)out->length, &plan->size))
    return tsr_fail(OVERFLOW, "an archive of more than 2^63 bytes");
  return NULL;
}

static void put_number(char *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (char)(unsigned char)(value >> 8 * i);
}

void tsr_zip_plan_set_crc(tsr_zip_plan *plan, int64_t member, uint32_t crc) {
  const tsr_zip_planned *m = &plan->members[member];
  const uint32_t whole = tsr_zip_crc_join(m->head_crc, crc, m->rest);
  put_number(plan->text.data + m->local_crc, whole);
  put_number(plan->directory.data + m->entry_crc, whole);
}

tsr_status tsr_zip_plan_write(const tsr_zip_plan *plan, int fd, const char *path) {
  for (int64_t i = 0; i < plan->count; i++) {
    const tsr_zip_planned *m = &plan->members[i];
    TSR_TRY(tsr_io_write(fd, path, plan->text.data + m->text, (int64_t)m->length, m->header));
  }
  const int64_t length = (int64_t)plan->directory.length, record = (int64_t)plan->record.length;
  const int64_t begin = plan->size - length;
  TSR_TRY(tsr_io_write(fd, path, plan->record.data, record, begin - record));
  return tsr_io_write(fd, path, plan->directory.data, length, begin);
}

void tsr_zip_plan_deinit(tsr_zip_plan *plan) {
  tsr_text_deinit(&plan->text);
  tsr_text_deinit(&plan->record);
  tsr_text_deinit(&plan->directory);
  free(plan->members);
  *plan = (tsr_zip_plan){0};
}
