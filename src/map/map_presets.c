// Maps that ship with the library: the files of presets/maps/, embedded by the build.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "map/map.h"
#include "map/map_internal.h"

// Rows PRESET(name, text), made by the build.
#pragma GCC diagnostic ignored "-Woverlength-strings"
static const struct {
  const char *name, *text;
} presets[] = {
#define PRESET(name, text) {name, text},
#include "map/presets.inc"
#undef PRESET
};
enum { PRESET_COUNT = sizeof presets / sizeof *presets };

const char *tsr_map_preset_at(int64_t index) {
  return index >= 0 && index < (int)PRESET_COUNT ? presets[index].name : NULL;
}

const char *tsr_map_preset_text(const char *name) {
  for (int i = 0; i < (int)PRESET_COUNT; i++)
    if (!strcmp(presets[i].name, name)) return presets[i].text;
  return NULL;
}

static tsr_status unknown_map(const char *name) {
  tsr_suggestion near = tsr_suggestion_for(name);
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = 0; i < (int)PRESET_COUNT; i++) {
    tsr_suggestion_offer(&near, presets[i].name);
    tsr_text_addf(&known, "%s%s", i ? ", " : "", presets[i].name);
  }
  return tsr_text_end(
      &known, tsr_fail(UNKNOWN_PRESET, "there is no map \"%s\", only %s" TSR_DID_YOU_MEAN, name,
                       tsr_text_string(&known), TSR_SUGGESTED(near)));
}

tsr_status tsr_map_preset(const char *name, tsr_map **out_map) {
  const char *text = tsr_map_preset_text(name);
  char *file = NULL;
  if (!text) return unknown_map(name);
  if (asprintf(&file, "%s.map", name) < 0) return tsr_fail(NO_MEMORY, "a map");
  tsr_status status = tsr_map_parse(text, file, out_map);
  free(file);
  return status;
}
