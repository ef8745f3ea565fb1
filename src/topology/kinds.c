// The table of device kinds, and lookup by name.
#include "topology/kinds.h"

#include <string.h>

#define GIB ((int64_t)1 << 30)
#define GIGABYTES_PER_SECOND(rate) (1e-9 / (rate))

// Startup time of a message, in seconds. A torus hop is a hardware packet; NVLink and shared memory
// include waking a kernel or a thread; the network involves two hosts.
#define CHIP_START 0.5e-6
#define TORUS_START 1e-6
#define HOST_START 3e-6
#define NET_START 20e-6

#define TRIPLE(x, y, z) \
  { x, y, z }

static const tsr_device_kind kinds[] = {
#define KIND(platform_, name_, aliases_, cores_, host_, memory_, wrap_, extent_, chip, near, net) \
  {.platform = TSR_PLATFORM_##platform_,                                                          \
   .name = name_,                                                                                 \
   .aliases = aliases_,                                                                           \
   .cores = cores_,                                                                               \
   .host = TRIPLE host_,                                                                          \
   .memory = memory_ * GIB,                                                                       \
   .wrap = TSR_WRAP_##wrap_,                                                                      \
   .extent = extent_,                                                                             \
   .links = {[TSR_LEVEL_SELF] = {0, 0},                                                           \
             [TSR_LEVEL_CHIP] = {CHIP_START, GIGABYTES_PER_SECOND(chip)},                         \
             [TSR_LEVEL_HOST] = {HOST_START, GIGABYTES_PER_SECOND(near)},                         \
             [TSR_LEVEL_ICI] = {TORUS_START, GIGABYTES_PER_SECOND(near)},                         \
             [TSR_LEVEL_NET] = {NET_START, GIGABYTES_PER_SECOND(net)}}},
#include "topology/kinds.def"
#undef KIND
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static const char *const typical[TSR_PLATFORM_COUNT] = {
    [TSR_PLATFORM_CPU] = "cpu",
    [TSR_PLATFORM_GPU] = "NVIDIA H100",
    [TSR_PLATFORM_TPU] = "TPU v4",
};

static const tsr_device_kind *find_name(tsr_platform platform, const char *name) {
  for (int i = 0; i < KIND_COUNT; i++)
    if (kinds[i].platform == platform && !strcmp(kinds[i].name, name)) return &kinds[i];
  return NULL;
}

// GPU runtimes add memory size and form factor to the name. TPU names are complete: "TPU v5" is
// another chip than "TPU v5 lite".
static const tsr_device_kind *find_first_words(tsr_platform platform, const char *name) {
  for (int i = 0; i < KIND_COUNT; i++) {
    const size_t length = strlen(kinds[i].name);
    if (kinds[i].platform == platform && !strncmp(kinds[i].name, name, length) &&
        (name[length] == ' ' || name[length] == '-'))
      return &kinds[i];
  }
  return NULL;
}

const tsr_device_kind *tsr_kind_of(tsr_platform platform, const char *name) {
  const tsr_device_kind *kind = find_name(platform, name);
  if (!kind && platform == TSR_PLATFORM_GPU) kind = find_first_words(platform, name);
  return kind ? kind : find_name(platform, typical[platform]);
}

// The next word of a list of aliases, and its length; NULL = the end.
static const char *next_alias(const char *cursor, size_t *out_length) {
  cursor += strspn(cursor, " ");
  *out_length = strcspn(cursor, " ");
  return *out_length ? cursor : NULL;
}

const tsr_device_kind *tsr_kind_find(tsr_platform platform, const char *alias, size_t length) {
  for (int i = 0; i < KIND_COUNT; i++) {
    if (kinds[i].platform != platform) continue;
    size_t found = 0;
    for (const char *at = kinds[i].aliases; (at = next_alias(at, &found)); at += found)
      if (found == length && !strncasecmp(at, alias, length)) return &kinds[i];
  }
  return NULL;
}

int tsr_kind_aliases(tsr_platform platform, char (*out_aliases)[16], int capacity) {
  int count = 0;
  for (int i = 0; i < KIND_COUNT && count < capacity; i++) {
    size_t length = 0;
    const char *alias = next_alias(kinds[i].aliases, &length);
    if (kinds[i].platform != platform || !alias || length >= sizeof *out_aliases) continue;
    memcpy(out_aliases[count], alias, length);
    out_aliases[count++][length] = '\0';
  }
  return count;
}

void tsr_kind_wrap(const tsr_device_kind *kind, const int64_t sizes[3], bool out_wrap[3]) {
  bool whole_cubes = kind->wrap == TSR_WRAP_CUBES;
  for (int i = 0; i < 3; i++) whole_cubes = whole_cubes && sizes[i] % kind->extent == 0;
  for (int i = 0; i < 3; i++)
    out_wrap[i] = whole_cubes || (kind->wrap == TSR_WRAP_EXTENT && sizes[i] == kind->extent);
}
