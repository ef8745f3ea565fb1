// Maps that are refused, each with its cause and message.
#ifndef TESSERA_TESTS_MAP_BAD_MAPS_H
#define TESSERA_TESTS_MAP_BAD_MAPS_H

#include "support/test.h"

typedef struct bad_map {
  const char *text;
  tsr_cause cause;
  const char *message;
} bad_map;

// What fails is told by the map's text and its number.
static inline void assert_maps_refused(const bad_map *maps, size_t count,
                                       tsr_status (*read)(const char *text)) {
  for (size_t i = 0; i < count; i++)
    test_assert_fails(read(maps[i].text), maps[i].cause, maps[i].message, maps[i].text, (int)i);
}

#endif
