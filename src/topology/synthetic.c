// Made-up machines from text: `tpu-v4:4x4x8:slices=2:order=id`.
//
// The text is read into a recipe (which kind, how many, in which order), field by field from one
// table, and the recipe is then carried out. Ids, processes and list order are those the runtimes
// give: ids run over cores, then x, y, z, then slices; a host drives a small box of chips, hosts
// are numbered like chips; the list goes host by host.
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/suggest.h"
#include "base/text_internal.h"
#include "topology/kinds.h"
#include "topology/topology_internal.h"

// A machine this large takes 80 MB; more is a slip of the keyboard.
enum { MOST_DEVICES = 1 << 20, MOST_ALIASES = 32 };

typedef enum list_order {
  ORDER_HOST,
  ORDER_ID,
  ORDER_COORDS,
  ORDER_REVERSED,
  ORDER_SHUFFLED,
  ORDER_COUNT
} list_order;

static const char *const order_names[ORDER_COUNT] = {
    [ORDER_HOST] = "host",         [ORDER_ID] = "id",
    [ORDER_COORDS] = "coords",     [ORDER_REVERSED] = "reversed",
    [ORDER_SHUFFLED] = "shuffled",
};

// CPUs and GPUs are a column of hosts with a row of devices each: sizes {devices, hosts, 1}, host
// {devices, 1, 1}, and no coordinates in the result.
typedef struct synthetic {
  const tsr_device_kind *kind;
  int64_t sizes[3], host[3], origin[3];
  int64_t cores, slices;
  bool sliced;  // the text speaks of slices, so that devices have one even without a torus
  list_order order;
  int64_t memory;
  bool wrap[3], has_wrap;
} synthetic;

// A piece of the text.
typedef struct topology_word {
  const char *start;
  int length;
} topology_word;

#define WORD(s) (s).length, (s).start  // for "%.*s"

static bool word_is(topology_word s, const char *word) {
  return strlen(word) == (size_t)s.length && !strncmp(s.start, word, (size_t)s.length);
}

// The text up to `separator`, which is skipped; `*rest` starts at NULL once nothing is left.
static topology_word cut_at(topology_word *rest, char separator) {
  const char *end = memchr(rest->start, separator, (size_t)rest->length);
  const topology_word head = {rest->start, end ? (int)(end - rest->start) : rest->length};
  *rest = end ? (topology_word){end + 1, rest->length - head.length - 1} : (topology_word){NULL, 0};
  return head;
}

// Starts a suggestion for a piece of the text, copied to `out_word` to end it with '\0'.
static tsr_suggestion suggest_for(topology_word s, char out_word[64]) {
  const size_t length = s.length < 63 ? (size_t)s.length : 63;
  memcpy(out_word, s.start, length);
  out_word[length] = '\0';
  return tsr_suggestion_for(out_word);
}

static bool read_number(topology_word s, int64_t most, int64_t *out_number) {
  int64_t number = 0;
  for (int i = 0; i < s.length; i++) {
    if (!isdigit((unsigned char)s.start[i])) return false;
    if (number > (most - (s.start[i] - '0')) / 10) return false;
    number = number * 10 + (s.start[i] - '0');
  }
  *out_number = number;
  return s.length > 0;
}

// "4x4x8" into as many numbers of at least `least`; gives how many there were.
static tsr_status read_sizes(topology_word text, const char *what, int64_t least, int most_count,
                             int64_t *out_sizes, int *out_count) {
  topology_word rest = text;
  int count = 0;
  while (rest.start) {
    const topology_word word = cut_at(&rest, 'x');
    int64_t size = 0;
    if (!read_number(word, MOST_DEVICES, &size) || size < least)
      return tsr_fail(SYNTAX, "%s: \"%.*s\" in \"%.*s\" is not a number from %lld to %d", what,
                      WORD(word), WORD(text), (long long)least, MOST_DEVICES);
    if (count == most_count)
      return tsr_fail(SYNTAX, "%s: \"%.*s\" has more than %d numbers", what, WORD(text),
                      most_count);
    out_sizes[count++] = size;
  }
  *out_count = count;
  return NULL;
}

static tsr_status read_count(topology_word value, const char *what, int64_t *out_count) {
  int64_t count = 0;
  if (!read_number(value, MOST_DEVICES, &count) || count < 1)
    return tsr_fail(SYNTAX, "%s: \"%.*s\" is not a number from 1 to %d", what, WORD(value),
                    MOST_DEVICES);
  *out_count = count;
  return NULL;
}

// ---- fields ----

static tsr_status read_slices(synthetic *recipe, topology_word value) {
  recipe->sliced = true;
  return read_count(value, "slices", &recipe->slices);
}

static tsr_status read_cores(synthetic *recipe, topology_word value) {
  return read_count(value, "cores", &recipe->cores);
}

static tsr_status read_hosts(synthetic *recipe, topology_word value) {
  int64_t host[3] = {1, 1, 1};
  int count = 0;
  TSR_TRY(read_sizes(value, "hosts", 1, 3, host, &count));
  memcpy(recipe->host, host, sizeof host);
  return NULL;
}

static tsr_status read_origin(synthetic *recipe, topology_word value) {
  int count = 0;
  return read_sizes(value, "origin", 0, 3, recipe->origin, &count);
}

static tsr_status read_order(synthetic *recipe, topology_word value) {
  for (int i = 0; i < ORDER_COUNT; i++)
    if (word_is(value, order_names[i])) {
      recipe->order = (list_order)i;
      return NULL;
    }
  char word[64];
  tsr_suggestion near = suggest_for(value, word);
  for (int i = 0; i < ORDER_COUNT; i++) tsr_suggestion_offer(&near, order_names[i]);
  return tsr_fail(
      SYNTAX, "order: \"%.*s\" is not one of host, id, coords, reversed, shuffled" TSR_DID_YOU_MEAN,
      WORD(value), TSR_SUGGESTED(near));
}

static tsr_status read_memory(synthetic *recipe, topology_word value) {
  static const char units[] = "KMGT";
  topology_word number = value;
  int shift = 0;
  if (number.length && (number.start[number.length - 1] == 'B')) number.length--;
  const char unit = number.length ? number.start[number.length - 1] : '\0';
  const char *found = unit ? strchr(units, toupper((unsigned char)unit)) : NULL;
  if (found) shift = 10 * (int)(found - units + 1), number.length--;
  int64_t amount = 0;
  if (!read_number(number, INT64_MAX >> shift, &amount) || amount < 1)
    return tsr_fail(SYNTAX, "memory: \"%.*s\" is not a number of bytes such as 16G", WORD(value));
  recipe->memory = amount << shift;
  return NULL;
}

static tsr_status read_wrap(synthetic *recipe, topology_word value) {
  recipe->has_wrap = true;
  if (word_is(value, "none")) return NULL;
  for (int i = 0; i < value.length; i++) {
    const char *axis = memchr("xyz", value.start[i], 3);
    if (!axis)
      return tsr_fail(SYNTAX, "wrap: \"%.*s\" is not made of the letters x, y, z, nor \"none\"",
                      WORD(value));
    recipe->wrap[axis - "xyz"] = true;
  }
  return value.length ? NULL : tsr_fail(SYNTAX, "wrap: nothing given, wanted axes or \"none\"");
}

static const struct {
  const char *name;
  tsr_status (*read)(synthetic *recipe, topology_word value);
  bool needs_torus;
} fields[] = {
    {"slices", read_slices, false}, {"memory", read_memory, false}, {"order", read_order, false},
    {"hosts", read_hosts, true},    {"cores", read_cores, true},    {"origin", read_origin, true},
    {"wrap", read_wrap, true},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static tsr_status fail_field(topology_word name) {
  char word[64];
  tsr_suggestion near = suggest_for(name, word);
  for (int i = 0; i < FIELD_COUNT; i++) tsr_suggestion_offer(&near, fields[i].name);
  return tsr_fail(SYNTAX,
                  "field \"%.*s\" is not one of slices, memory, order, hosts, cores, origin, "
                  "wrap" TSR_DID_YOU_MEAN,
                  WORD(name), TSR_SUGGESTED(near));
}

// `*seen` has a bit for each field that was given.
static tsr_status read_field(synthetic *recipe, topology_word text, unsigned *seen) {
  topology_word value = text;
  const topology_word name = cut_at(&value, '=');
  if (!value.start)
    return tsr_fail(SYNTAX, "field \"%.*s\" has no value, wanted name=value", WORD(text));
  for (int i = 0; i < FIELD_COUNT; i++) {
    if (!word_is(name, fields[i].name)) continue;
    if (*seen & 1u << i) return tsr_fail(SYNTAX, "field \"%.*s\" is given twice", WORD(name));
    if (fields[i].needs_torus && recipe->kind->platform != TSR_PLATFORM_TPU)
      return tsr_fail(SYNTAX,
                      "field \"%.*s\" is for TPUs, whose chips have coordinates; %s has none",
                      WORD(name), tsr_platform_name(recipe->kind->platform));
    *seen |= 1u << i;
    return fields[i].read(recipe, value);
  }
  return fail_field(name);
}

// ---- kind and sizes ----

static tsr_status fail_kind(tsr_platform platform, topology_word name) {
  char aliases[MOST_ALIASES][16], word[64];
  const int count = tsr_kind_aliases(platform, aliases, MOST_ALIASES);
  tsr_suggestion near = suggest_for(name, word);
  tsr_text list = TSR_TEXT_EMPTY;
  for (int i = 0; i < count; i++) {
    tsr_text_addf(&list, "%s%s", i ? ", " : "", aliases[i]);
    tsr_suggestion_offer(&near, aliases[i]);
  }
  return tsr_text_end(
      &list, tsr_fail(UNKNOWN_DEVICE_KIND, "%s kind \"%.*s\" is not one of %s" TSR_DID_YOU_MEAN,
                      tsr_platform_name(platform), WORD(name), tsr_text_string(&list),
                      TSR_SUGGESTED(near)));
}

static tsr_status find_kind(tsr_platform platform, topology_word alias,
                            const tsr_device_kind **out_kind) {
  *out_kind = tsr_kind_find(platform, alias.start, (size_t)alias.length);
  return *out_kind ? NULL : fail_kind(platform, alias);
}

// What stands before the first ':': "cpu", "gpu", or "tpu-" and a kind.
static tsr_status read_machine(topology_word machine, synthetic *recipe) {
  if (word_is(machine, "cpu") || word_is(machine, "gpu")) {
    const bool cpu = word_is(machine, "cpu");
    recipe->kind =
        cpu ? tsr_kind_of(TSR_PLATFORM_CPU, "cpu") : tsr_kind_of(TSR_PLATFORM_GPU, "NVIDIA A100");
    return NULL;
  }
  if (machine.length > 4 && !strncmp(machine.start, "tpu-", 4))
    return find_kind(TSR_PLATFORM_TPU, (topology_word){machine.start + 4, machine.length - 4},
                     &recipe->kind);
  if (word_is(machine, "tpu")) return tsr_fail(SYNTAX, "\"tpu\" needs a kind, as in tpu-v4");
  return tsr_fail(UNKNOWN_PLATFORM, "\"%.*s\" is not a machine, wanted cpu, gpu or tpu-<kind> (%s)",
                  WORD(machine), "as in cpu:8, gpu:4x8 or tpu-v4:4x4x4");
}

static tsr_status read_extent(topology_word text, synthetic *recipe) {
  const bool torus = recipe->kind->platform == TSR_PLATFORM_TPU;
  int64_t sizes[3] = {1, 1, 1};
  int count = 0;
  TSR_TRY(read_sizes(text, "sizes", 1, torus ? 3 : 2, sizes, &count));
  if (torus && count == 1)
    return tsr_fail(SYNTAX,
                    "sizes: \"%.*s\" is one number, wanted x by y or x by y by z, as in %lldx1",
                    WORD(text), (long long)sizes[0]);
  if (torus) {
    memcpy(recipe->sizes, sizes, sizeof sizes);
    memcpy(recipe->host, recipe->kind->host, sizeof recipe->host);
  } else {
    recipe->sizes[0] = recipe->host[0] = count == 1 ? sizes[0] : sizes[1];
    recipe->sizes[1] = count == 1 ? 1 : sizes[0];
    recipe->sizes[2] = recipe->host[1] = recipe->host[2] = 1;
  }
  recipe->cores = recipe->kind->cores;
  recipe->slices = 1;
  return NULL;
}

// Reads the fields, each from where `cursor` is set to.
static tsr_status read_fields(tsr_cursor *cursor, synthetic *recipe) {
  const char *text = cursor->start;
  topology_word rest = {text, (int)strlen(text)};
  TSR_TRY(read_machine(cut_at(&rest, ':'), recipe));
  if (!rest.start) {
    cursor->at += strlen(text);
    return tsr_cursor_expected(cursor, recipe->kind->platform == TSR_PLATFORM_TPU
                                           ? "x by y by z after a \":\", as in :4x4x4"
                                           : "hosts by devices after a \":\", as in :4x8");
  }
  cursor->at = rest.start;
  TSR_TRY(read_extent(cut_at(&rest, ':'), recipe));
  unsigned seen = 0;
  for (bool first = true; rest.start; first = false) {
    cursor->at = rest.start;
    const topology_word field = cut_at(&rest, ':');
    const bool names_kind = first && recipe->kind->platform == TSR_PLATFORM_GPU &&
                            !memchr(field.start, '=', (size_t)field.length);
    if (names_kind)
      TSR_TRY(find_kind(TSR_PLATFORM_GPU, field, &recipe->kind));
    else
      TSR_TRY(read_field(recipe, field, &seen));
  }
  return NULL;
}

// ---- carrying it out ----

static tsr_status count_devices(const synthetic *recipe, int64_t *out_count) {
  int64_t count = recipe->cores;
  const int64_t factors[] = {recipe->sizes[0], recipe->sizes[1], recipe->sizes[2], recipe->slices};
  // Each factor is at most 2^20 and so is the product before it: no overflow.
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
    if (count <= MOST_DEVICES) count *= factors[i];
  if (count > MOST_DEVICES) return tsr_fail(TOO_LARGE, "more than %d devices", MOST_DEVICES);
  *out_count = count;
  return NULL;
}

static int64_t tiles(const synthetic *recipe, int axis) {
  return (recipe->sizes[axis] - 1) / recipe->host[axis] + 1;
}

// All cores of the chip at `at`.
static tsr_device *emit_chip(const synthetic *recipe, int64_t slice, const int64_t at[3],
                             tsr_device *out) {
  const int64_t *sizes = recipe->sizes, *host = recipe->host;
  const bool torus = recipe->kind->platform == TSR_PLATFORM_TPU;
  const int64_t chip = ((slice * sizes[2] + at[2]) * sizes[1] + at[1]) * sizes[0] + at[0];
  const int64_t process =
      ((slice * tiles(recipe, 2) + at[2] / host[2]) * tiles(recipe, 1) + at[1] / host[1]) *
          tiles(recipe, 0) +
      at[0] / host[0];
  for (int64_t core = 0; core < recipe->cores; core++) {
    *out = (tsr_device){.id = chip * recipe->cores + core,
                        .process = process,
                        .slice = torus || recipe->sliced ? slice : TSR_NO_SLICE,
                        .core = torus ? core : TSR_NO_CORE,
                        .has_coords = torus};
    for (int i = 0; torus && i < 3; i++) out->coords[i] = at[i] + recipe->origin[i];
    out++;
  }
  return out;
}

// Chips of the box from `low` with these sizes, cut off at the slice's end, x fastest.
static tsr_device *emit_box(const synthetic *recipe, int64_t slice, const int64_t low[3],
                            const int64_t sizes[3], tsr_device *out) {
  int64_t high[3], at[3];
  for (int i = 0; i < 3; i++)
    high[i] = sizes[i] < recipe->sizes[i] - low[i] ? low[i] + sizes[i] : recipe->sizes[i];
  for (at[2] = low[2]; at[2] < high[2]; at[2]++)
    for (at[1] = low[1]; at[1] < high[1]; at[1]++)
      for (at[0] = low[0]; at[0] < high[0]; at[0]++) out = emit_chip(recipe, slice, at, out);
  return out;
}

static tsr_device *emit_by_host(const synthetic *recipe, int64_t slice, tsr_device *out) {
  const int64_t count[3] = {tiles(recipe, 0), tiles(recipe, 1), tiles(recipe, 2)};
  for (int64_t z = 0; z < count[2]; z++)
    for (int64_t y = 0; y < count[1]; y++)
      for (int64_t x = 0; x < count[0]; x++) {
        const int64_t low[3] = {x * recipe->host[0], y * recipe->host[1], z * recipe->host[2]};
        out = emit_box(recipe, slice, low, recipe->host, out);
      }
  return out;
}

static tsr_device *emit_by_coords(const synthetic *recipe, int64_t slice, tsr_device *out) {
  int64_t at[3];
  for (at[0] = 0; at[0] < recipe->sizes[0]; at[0]++)
    for (at[1] = 0; at[1] < recipe->sizes[1]; at[1]++)
      for (at[2] = 0; at[2] < recipe->sizes[2]; at[2]++) out = emit_chip(recipe, slice, at, out);
  return out;
}

static void swap_devices(tsr_device *a, tsr_device *b) {
  const tsr_device kept = *a;
  *a = *b;
  *b = kept;
}

// Fisher and Yates with a fixed seed: as bad an order as any, and the same on every machine.
static void shuffle(tsr_device *devices, int64_t count) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (int64_t i = count - 1; i > 0; i--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    swap_devices(&devices[i], &devices[(state >> 33) % ((uint64_t)i + 1)]);
  }
}

static void list_devices(const synthetic *recipe, tsr_device *devices, int64_t count) {
  static const int64_t corner[3] = {0, 0, 0};
  tsr_device *out = devices;
  for (int64_t slice = 0; slice < recipe->slices; slice++) {
    switch (recipe->order) {
      case ORDER_ID:
        out = emit_box(recipe, slice, corner, recipe->sizes, out);
        break;
      // Without coordinates the order of coordinates is that of hosts.
      case ORDER_COORDS:
        out = recipe->kind->platform == TSR_PLATFORM_TPU ? emit_by_coords(recipe, slice, out)
                                                         : emit_by_host(recipe, slice, out);
        break;
      default:
        out = emit_by_host(recipe, slice, out);
        break;
    }
  }
  if (recipe->order == ORDER_SHUFFLED) shuffle(devices, count);
  for (int64_t i = 0; recipe->order == ORDER_REVERSED && i < count / 2; i++)
    swap_devices(&devices[i], &devices[count - 1 - i]);
}

static tsr_status carry_out(const synthetic *recipe, tsr_topology **out_topology) {
  int64_t count = 0;
  TSR_TRY(count_devices(recipe, &count));
  tsr_device *devices = malloc((size_t)count * sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "%lld devices", (long long)count);
  assert(recipe->kind);
  list_devices(recipe, devices, count);
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = recipe->kind->platform,
                                  .kind = recipe->kind->name,
                                  .device_count = count,
                                  .devices = devices,
                                  .memory_per_device = recipe->memory,
                                  .wrap = recipe->has_wrap ? recipe->wrap : NULL};
  tsr_status status = tsr_topology_create(&desc, out_topology);
  free(devices);
  return status;
}

tsr_status tsr_topology_parse(const char *text, tsr_topology **out_topology) {
  synthetic recipe = {0};
  tsr_cursor cursor = TSR_CURSOR("topology", text);
  if (strnlen(text, 1024) == 1024) return tsr_fail(SYNTAX, "topology text of more than 1023 bytes");
  TSR_TRY(tsr_cursor_place_missing(&cursor, read_fields(&cursor, &recipe)));
  return tsr_cursor_note(&cursor, carry_out(&recipe, out_topology));
}
