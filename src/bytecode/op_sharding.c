// XLA's OpSharding message (protocol buffers), which files of JAX before March 2026 hold, as the
// text that XLA writes for it: {devices=[2,1,4]<=[8] last_tile_dim_replicate}.
#include <string.h>

#include "base/text_internal.h"
#include "bytecode/export_internal.h"

// The fields of the message, and the kinds of sharding.
enum {
  TYPE = 1,
  TILE_DIMS = 3,
  DEVICES = 4,
  TUPLE = 5,
  REPLICATE_LAST = 6,
  LAST_DIMS = 8,
  IOTA_DIMS = 9,
  IOTA_ORDER = 10
};
enum { REPLICATED, MAXIMAL, TUPLES, OTHER, MANUAL, UNKNOWN, UNREDUCED };
enum { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 = 5 };
enum { TUPLE_DEPTH = 4 };

typedef struct proto_view {
  const unsigned char *at, *end;
} proto_view;

static bool take_varint(proto_view *view, uint64_t *out_value) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && view->at < view->end; shift += 7) {
    const unsigned char byte = *view->at++;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) {
      *out_value = value;
      return true;
    }
  }
  return false;
}

static bool take_bytes(proto_view *view, uint64_t length, proto_view *out_bytes) {
  if (length > (uint64_t)(view->end - view->at)) return false;
  *out_bytes = (proto_view){view->at, view->at + length};
  view->at += length;
  return true;
}

// One field: its number, and its bytes or, for a number, the bytes of its varint.
static bool take_field(proto_view *view, uint64_t *out_field, int *out_wire,
                       proto_view *out_bytes) {
  uint64_t tag = 0, value = 0;
  if (!take_varint(view, &tag)) return false;
  *out_field = tag >> 3;
  *out_wire = (int)(tag & 7);
  const unsigned char *start = view->at;
  switch (*out_wire) {
    case WIRE_VARINT:
      if (!take_varint(view, &value)) return false;
      *out_bytes = (proto_view){start, view->at};
      return true;
    case WIRE_BYTES:
      return take_varint(view, &value) && take_bytes(view, value, out_bytes);
    case WIRE_FIXED32:
      return take_bytes(view, 4, out_bytes);
    case WIRE_FIXED64:
      return take_bytes(view, 8, out_bytes);
    default:
      return false;
  }
}

// Calls for every number of a repeated field, packed or not, adding them with commas.
static bool add_numbers(proto_view message, uint64_t wanted, tsr_text *out, int64_t *out_count) {
  uint64_t field = 0, value = 0;
  int wire = 0;
  proto_view bytes;
  int64_t count = 0;
  while (message.at < message.end) {
    if (!take_field(&message, &field, &wire, &bytes)) return false;
    if (field != wanted) continue;
    if (wire != WIRE_VARINT && wire != WIRE_BYTES) return false;
    while (bytes.at < bytes.end) {
      if (!take_varint(&bytes, &value)) return false;
      if (out) tsr_text_addf(out, "%s%lld", count ? "," : "", (long long)value);
      count++;
    }
  }
  *out_count = count;
  return true;
}

// The last value of a field that is a number; `otherwise` if it is absent.
static bool find_number(proto_view message, uint64_t wanted, uint64_t otherwise,
                        uint64_t *out_value) {
  uint64_t field = 0;
  int wire = 0;
  proto_view bytes;
  *out_value = otherwise;
  while (message.at < message.end) {
    if (!take_field(&message, &field, &wire, &bytes)) return false;
    if (field == wanted && (wire != WIRE_VARINT || !take_varint(&bytes, out_value))) return false;
  }
  return true;
}

static const char *const simple_kinds[] = {[REPLICATED] = "replicated",
                                           [MANUAL] = "manual",
                                           [UNKNOWN] = "unknown",
                                           [UNREDUCED] = "unreduced"};

static bool add_last_dims(proto_view message, tsr_text *out) {
  uint64_t replicate = 0, field = 0, value = 0;
  int wire = 0;
  proto_view bytes;
  if (!find_number(message, REPLICATE_LAST, 0, &replicate)) return false;
  if (replicate) tsr_text_add(out, " last_tile_dim_replicate");
  bool first = true;
  while (message.at < message.end) {
    if (!take_field(&message, &field, &wire, &bytes)) return false;
    if (field != LAST_DIMS) continue;
    while (bytes.at < bytes.end) {
      if (!take_varint(&bytes, &value) || value > UNREDUCED || !simple_kinds[value]) return false;
      tsr_text_addf(out, "%s%s", first ? " last_tile_dims={" : ", ", simple_kinds[value]);
      first = false;
    }
  }
  if (!first) tsr_text_add(out, "}");
  return true;
}

static bool add_iota(proto_view message, tsr_text *out) {
  int64_t count = 0, order = 0;
  tsr_text_add(out, "<=[");
  if (!add_numbers(message, IOTA_DIMS, out, &count)) return false;
  tsr_text_add(out, "]");
  if (!add_numbers(message, IOTA_ORDER, NULL, &order)) return false;
  if (count < 2) return true;  // an order of one dimension says nothing
  tsr_text_add(out, "T(");
  if (!add_numbers(message, IOTA_ORDER, out, &order) || order != count) return false;
  tsr_text_add(out, ")");
  return true;
}

static bool add_tiles(proto_view message, tsr_text *out) {
  int64_t count = 0, devices = 0;
  tsr_text_add(out, "{devices=[");
  if (!add_numbers(message, TILE_DIMS, out, &count)) return false;
  tsr_text_add(out, "]");
  if (!add_numbers(message, DEVICES, out, &devices)) return false;
  if (!devices && !add_iota(message, out)) return false;
  if (!add_last_dims(message, out)) return false;
  tsr_text_add(out, "}");
  return true;
}

static bool add_sharding(proto_view message, int depth, tsr_text *out);

static bool add_tuple(proto_view message, int depth, tsr_text *out) {
  uint64_t field = 0;
  int wire = 0;
  proto_view bytes;
  bool first = true;
  tsr_text_add(out, "{");
  while (message.at < message.end) {
    if (!take_field(&message, &field, &wire, &bytes)) return false;
    if (field != TUPLE) continue;
    if (!first) tsr_text_add(out, ", ");
    if (wire != WIRE_BYTES || !add_sharding(bytes, depth + 1, out)) return false;
    first = false;
  }
  tsr_text_add(out, "}");
  return true;
}

static bool add_sharding(proto_view message, int depth, tsr_text *out) {
  uint64_t type = 0;
  if (depth > TUPLE_DEPTH || !find_number(message, TYPE, REPLICATED, &type)) return false;
  switch (type) {
    case MAXIMAL:
      // One device; its packed list has one number.
      tsr_text_add(out, "{maximal device=");
      int64_t count = 0;
      if (!add_numbers(message, DEVICES, out, &count) || count != 1) return false;
      tsr_text_add(out, "}");
      return true;
    case TUPLES:
      return add_tuple(message, depth, out);
    case OTHER:
      return add_tiles(message, out);
    default:
      if (type > UNREDUCED || !simple_kinds[type]) return false;
      tsr_text_addf(out, "{%s}", simple_kinds[type]);
      return true;
  }
}

bool tsr_op_sharding_print(const void *proto, size_t length, tsr_text *out) {
  const unsigned char *bytes = proto;
  tsr_text text = TSR_TEXT_EMPTY;
  const bool known = add_sharding((proto_view){bytes, bytes + length}, 0, &text);
  if (known) tsr_text_add_bytes(out, tsr_text_string(&text), text.length);
  if (text.failed) out->failed = true;
  tsr_text_deinit(&text);
  return known;
}
