// The directory of a zip archive is at its end and locates the members:
//
//   local header, bytes of a member   (once for each)
//   [record]                          our own, about the whole archive
//   directory entry                   (once for each)
//   [zip64 end record, its locator]   where a number does not fit 16 or 32 bits
//   end record, comment
//
// Every number is checked before it is used as an offset or a size.
#include "file/zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/utf8.h"

enum {
  END_BYTES = 22,
  LOCATOR_BYTES = 20,
  END_64_BYTES = 56,
  ENTRY_BYTES = 46,
  EXTRA_64 = 1,
  MOST_COMMENT = 65535,
  MOST_DIRECTORY = 1 << 28,
};

static uint64_t number(const unsigned char *bytes, int width) {
  uint64_t value = 0;
  for (int i = width - 1; i >= 0; i--) value = value << 8 | bytes[i];
  return value;
}

static uint32_t mark_of(const unsigned char *bytes) { return (uint32_t)number(bytes, 4); }

// ---- the end of the archive ----

// The offset, size and number of entries of the directory.
typedef struct zip_ending {
  uint64_t count, size, begin;
  int64_t end;  // of the directory: the offset of the first end record
} zip_ending;

static tsr_status read_end_64(const tsr_zip *zip, int64_t locator_at, zip_ending *out) {
  unsigned char locator[LOCATOR_BYTES], record[END_64_BYTES];
  if (locator_at < 0) return tsr_fail(BROKEN_FILE, "the zip64 locator is missing");
  TSR_TRY(tsr_io_read(zip->fd, zip->path, locator, sizeof locator, locator_at));
  const uint64_t at = number(locator + 8, 8);
  if (mark_of(locator) != TSR_ZIP_LOCATOR)
    return tsr_fail(BROKEN_FILE, "no zip64 locator at byte %lld", (long long)locator_at);
  if (locator_at < END_64_BYTES || at > (uint64_t)(locator_at - END_64_BYTES))
    return tsr_fail(BROKEN_FILE, "the zip64 end record is after its locator at byte %lld",
                    (long long)locator_at);
  TSR_TRY(tsr_io_read(zip->fd, zip->path, record, sizeof record, (int64_t)at));
  if (mark_of(record) != TSR_ZIP_END_64)
    return tsr_fail(BROKEN_FILE, "no zip64 end record at byte %llu", (unsigned long long)at);
  *out = (zip_ending){.count = number(record + 32, 8),
                      .size = number(record + 40, 8),
                      .begin = number(record + 48, 8),
                      .end = (int64_t)at};
  return NULL;
}

// The end record is the last one whose comment ends with the file.
static const unsigned char *find_end(const unsigned char *tail, int64_t length) {
  for (int64_t i = length - END_BYTES; i >= 0; i--)
    if (mark_of(tail + i) == TSR_ZIP_END &&
        (int64_t)number(tail + i + 20, 2) == length - i - END_BYTES)
      return tail + i;
  return NULL;
}

static tsr_status read_end(const tsr_zip *zip, zip_ending *out) {
  const int64_t most = END_BYTES + MOST_COMMENT;
  const int64_t length = zip->file_size < most ? zip->file_size : most;
  unsigned char *tail = malloc((size_t)(length ? length : 1));
  if (!tail) return tsr_fail(NO_MEMORY, "end of an archive");
  tsr_status status = tsr_io_read(zip->fd, zip->path, tail, length, zip->file_size - length);
  const unsigned char *end = status ? NULL : find_end(tail, length);
  if (!status && !end) status = tsr_fail(BROKEN_FILE, "there is no end record of a zip archive");
  if (!status) {
    const int64_t at = zip->file_size - length + (end - tail);
    *out = (zip_ending){number(end + 10, 2), number(end + 12, 4), number(end + 16, 4), at};
    const bool is_64 = out->count == 0xffff || out->size == 0xffffffff || out->begin == 0xffffffff;
    if (is_64) status = read_end_64(zip, at - LOCATOR_BYTES, out);
  }
  free(tail);
  return status;
}

static tsr_status check_ending(const zip_ending *e) {
  uint64_t end = 0;
  if (__builtin_add_overflow(e->begin, e->size, &end) || end != (uint64_t)e->end)
    return tsr_fail(BROKEN_FILE,
                    "the directory of %llu bytes from byte %llu on does not end at byte %lld",
                    (unsigned long long)e->size, (unsigned long long)e->begin, (long long)e->end);
  if (e->size > MOST_DIRECTORY || e->count > e->size / ENTRY_BYTES)
    return tsr_fail(BROKEN_FILE, "a directory of %llu bytes cannot have %llu entries",
                    (unsigned long long)e->size, (unsigned long long)e->count);
  return NULL;
}

// ---- the directory ----

// The bytes of an extra field, after its id and length; NULL = there is none.
static const unsigned char *find_extra(const unsigned char *extra, size_t length, unsigned id,
                                       size_t *out_length) {
  for (size_t at = 0; at + 4 <= length; at += 4 + *out_length) {
    *out_length = number(extra + at + 2, 2);
    if (*out_length > length - at - 4) break;
    if (number(extra + at, 2) == id) return extra + at + 4;
  }
  return NULL;
}

// Numbers of 32 bits that are all ones are in the zip64 field, in this order.
static tsr_status read_extra_64(const unsigned char *extra, size_t length, uint64_t *size,
                                uint64_t *packed, uint64_t *header) {
  uint64_t *const wanted[] = {size, packed, header};
  size_t field_length = 0, used = 0;
  const unsigned char *field = find_extra(extra, length, EXTRA_64, &field_length);
  for (int i = 0; i < 3; i++) {
    if (*wanted[i] != 0xffffffff) continue;
    if (!field) return tsr_fail(BROKEN_FILE, "its zip64 field is missing");
    if (used + 8 > field_length) return tsr_fail(BROKEN_FILE, "its zip64 field is too short");
    *wanted[i] = number(field + used, 8);
    used += 8;
  }
  return NULL;
}

static tsr_status check_member(const tsr_zip *zip, int flags, int method, uint64_t size,
                               uint64_t packed, uint64_t header) {
  if (flags & 1) return tsr_fail(UNSUPPORTED, "it is encrypted");
  if (method != 0 && method != 8)
    return tsr_fail(UNSUPPORTED, "it is packed by method %d, wanted 0 (stored) or 8 (deflated)",
                    method);
  if (method == 0 && size != packed)
    return tsr_fail(BROKEN_FILE, "it is stored, but %llu bytes take %llu", (unsigned long long)size,
                    (unsigned long long)packed);
  const uint64_t room = (uint64_t)zip->directory;
  if (header > room || packed > room - header || size > INT64_MAX)
    return tsr_fail(BROKEN_FILE, "its %llu bytes from byte %llu on run into the directory",
                    (unsigned long long)packed, (unsigned long long)header);
  return NULL;
}

// Checks the name in the local header, and finds the member's bytes.
static tsr_status read_local(const tsr_zip *zip, tsr_zip_member *member, size_t name_length) {
  unsigned char local[TSR_ZIP_LOCAL_BYTES];
  if (member->header > zip->directory - TSR_ZIP_LOCAL_BYTES)
    return tsr_fail(BROKEN_FILE, "its header at byte %lld runs into the directory",
                    (long long)member->header);
  TSR_TRY(tsr_io_read(zip->fd, zip->path, local, sizeof local, member->header));
  if (mark_of(local) != TSR_ZIP_LOCAL)
    return tsr_fail(BROKEN_FILE, "no header of a member at byte %lld", (long long)member->header);
  const int64_t extra = (int64_t)number(local + 28, 2);
  member->begin = member->header + TSR_ZIP_LOCAL_BYTES + (int64_t)name_length + extra;
  if (number(local + 26, 2) != name_length || member->begin > zip->directory ||
      member->packed > zip->directory - member->begin)
    return tsr_fail(BROKEN_FILE, "its header at byte %lld does not agree with the directory",
                    (long long)member->header);
  char *name = malloc(name_length + 1);
  if (!name) return tsr_fail(NO_MEMORY, "name of a member");
  tsr_status status = tsr_io_read(zip->fd, zip->path, name, (int64_t)name_length,
                                  member->header + TSR_ZIP_LOCAL_BYTES);
  if (!status && memcmp(name, member->name, name_length) != 0)
    status = tsr_fail(BROKEN_FILE, "its header at byte %lld has another name",
                      (long long)member->header);
  free(name);
  return status;
}

static tsr_status add_member(tsr_zip *zip, const unsigned char *entry, size_t name_length,
                             size_t extra_length) {
  uint64_t packed = number(entry + 20, 4), size = number(entry + 24, 4);
  uint64_t header = number(entry + 42, 4);
  TSR_TRY(read_extra_64(entry + ENTRY_BYTES + name_length, extra_length, &size, &packed, &header));
  const int method = (int)number(entry + 10, 2);
  TSR_TRY(check_member(zip, (int)number(entry + 8, 2), method, size, packed, header));
  tsr_zip_member *members = tsr_grow(zip->members, zip->count, &zip->capacity, sizeof *members);
  if (!members) return tsr_fail(NO_MEMORY, "archive of %lld members", (long long)zip->count);
  zip->members = members;
  tsr_zip_member member = {.deflated = method == 8,
                           .crc = (uint32_t)number(entry + 16, 4),
                           .packed = (int64_t)packed,
                           .size = (int64_t)size,
                           .header = (int64_t)header};
  size_t note_length = 0;
  const unsigned char *note =
      find_extra(entry + ENTRY_BYTES + name_length, extra_length, TSR_ZIP_NOTE, &note_length);
  member.name = tsr_arena_copy(&zip->arena, (const char *)entry + ENTRY_BYTES, name_length);
  if (note) member.note = tsr_arena_copy(&zip->arena, (const char *)note, note_length);
  if (!member.name || (note && !member.note))
    return tsr_fail(NO_MEMORY, "archive of %lld members", (long long)zip->count);
  if (strlen(member.name) != name_length || !tsr_utf8_is_valid(member.name))
    return tsr_fail(BROKEN_FILE, "its name is not UTF-8");
  int64_t existing = -1;
  TSR_TRY(tsr_name_index_add(&zip->names, member.name, zip->count, &existing));
  if (existing >= 0) return tsr_fail(BROKEN_FILE, "its name occurs twice");
  TSR_TRY(read_local(zip, &member, name_length));
  members[zip->count++] = member;
  return NULL;
}

static tsr_status read_entries(tsr_zip *zip, const unsigned char *bytes, const zip_ending *e) {
  uint64_t at = 0;
  for (uint64_t i = 0; i < e->count; i++) {
    const unsigned char *entry = bytes + at;
    if (e->size - at < ENTRY_BYTES || mark_of(entry) != TSR_ZIP_ENTRY)
      return tsr_fail(BROKEN_FILE, "no entry of the directory at byte %llu",
                      (unsigned long long)(e->begin + at));
    const uint64_t name = number(entry + 28, 2), extra = number(entry + 30, 2);
    const uint64_t length = ENTRY_BYTES + name + extra + number(entry + 32, 2);
    if (length > e->size - at)
      return tsr_fail(BROKEN_FILE, "the entry at byte %llu runs out of the directory",
                      (unsigned long long)(e->begin + at));
    TSR_TRY_NOTE(add_member(zip, entry, name, extra), "member \"%.*s\"", (int)name,
                 (const char *)entry + ENTRY_BYTES);
    at += length;
  }
  if (at != e->size)
    return tsr_fail(BROKEN_FILE, "the directory has bytes after its last entry, at byte %llu",
                    (unsigned long long)(e->begin + at));
  return NULL;
}

static int compare_places(const void *a, const void *b) {
  const tsr_zip_member *x = *(const tsr_zip_member *const *)a;
  const tsr_zip_member *y = *(const tsr_zip_member *const *)b;
  return x->header < y->header ? -1 : x->header > y->header;
}

// Overlapping members would unpack to more than the archive holds (a zip bomb).
static tsr_status check_overlaps(const tsr_zip *zip, int64_t *out_end) {
  const tsr_zip_member **sorted = malloc((size_t)(zip->count + 1) * sizeof *sorted);
  if (!sorted) return tsr_fail(NO_MEMORY, "archive of %lld members", (long long)zip->count);
  for (int64_t i = 0; i < zip->count; i++) sorted[i] = &zip->members[i];
  qsort(sorted, (size_t)zip->count, sizeof *sorted, compare_places);
  tsr_status status = NULL;
  int64_t end = 0;
  for (int64_t i = 0; i < zip->count && !status; i++) {
    if (sorted[i]->header < end)
      status = tsr_fail(BROKEN_FILE, "members \"%s\" and \"%s\" overlap at byte %lld",
                        sorted[i - 1]->name, sorted[i]->name, (long long)sorted[i]->header);
    end = sorted[i]->begin + sorted[i]->packed;
  }
  free(sorted);
  *out_end = end;
  return status;
}

// ---- the record before the directory ----

// Other data may be there too, such as trailing checksums of members.
static tsr_status read_record(tsr_zip *zip, int64_t begin) {
  unsigned char head[TSR_ZIP_RECORD_HEAD];
  const int64_t room = zip->directory - begin - TSR_ZIP_RECORD_HEAD;
  if (room < 0) return NULL;
  TSR_TRY(tsr_io_read(zip->fd, zip->path, head, sizeof head, begin));
  if (mark_of(head) != TSR_ZIP_RECORD) return NULL;
  const int64_t length = (int64_t)number(head + 4, 4);
  if (length != room || length > TSR_ZIP_MOST_RECORD)
    return tsr_fail(BROKEN_FILE,
                    "the record of %lld bytes at byte %lld does not end at the directory, at byte "
                    "%lld, or is longer than %d",
                    (long long)length, (long long)begin, (long long)zip->directory,
                    TSR_ZIP_MOST_RECORD);
  char *record = tsr_arena_alloc(&zip->arena, (size_t)length + 1);
  if (!record) return tsr_fail(NO_MEMORY, "record of %lld bytes", (long long)length);
  TSR_TRY(tsr_io_read(zip->fd, zip->path, record, length, begin + TSR_ZIP_RECORD_HEAD));
  zip->record = record;
  zip->record_length = (size_t)length;
  return NULL;
}

static tsr_status read_directory(tsr_zip *zip) {
  zip_ending e;
  TSR_TRY(tsr_io_size(zip->fd, zip->path, &zip->file_size));
  TSR_TRY(read_end(zip, &e));
  TSR_TRY(check_ending(&e));
  zip->directory = (int64_t)e.begin;
  unsigned char *bytes = malloc(e.size ? e.size : 1);
  if (!bytes) return tsr_fail(NO_MEMORY, "directory of %llu bytes", (unsigned long long)e.size);
  tsr_status status = tsr_io_read(zip->fd, zip->path, bytes, (int64_t)e.size, (int64_t)e.begin);
  if (!status) status = read_entries(zip, bytes, &e);
  free(bytes);
  int64_t last = 0;
  if (!status) status = check_overlaps(zip, &last);
  return status ? status : read_record(zip, last);
}

tsr_status tsr_zip_open(const char *path, tsr_zip *zip) {
  *zip = (tsr_zip){.fd = -1};
  zip->path = tsr_arena_copy(&zip->arena, path, strlen(path));
  tsr_status status = zip->path ? tsr_io_open(path, &zip->fd) : tsr_fail(NO_MEMORY, "archive");
  if (!status) status = tsr_note(read_directory(zip), "%s", path);
  if (status) tsr_zip_deinit(zip);
  return status;
}

void tsr_zip_deinit(tsr_zip *zip) {
  if (zip->fd >= 0) tsr_status_free(tsr_io_close(zip->fd, zip->path));
  tsr_name_index_deinit(&zip->names);
  tsr_arena_deinit(&zip->arena);
  free(zip->members);
}
