// Presets: rule files that ship with the library, by model family.
//
// The build embeds the files of presets/ (rules/presets.inc), so presets need no installation. A
// variant names the axes to keep. Headers ("# model_type: llama mistral; also qwen") list the
// models of a file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "mesh/mesh.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"

typedef struct preset {
  const char *family, *text;
} preset;

// PRESET(family, text): rows made by the build.
#pragma GCC diagnostic ignored "-Woverlength-strings"
static const preset presets[] = {
#define PRESET(family, text) {family, text},
#include "rules/presets.inc"
#undef PRESET
};
enum { PRESET_COUNT = sizeof presets / sizeof *presets };

// Other names of families: the model_type values of their headers, then nicknames.
typedef struct preset_word {
  const char *word, *family;
} preset_word;

#define MODEL_TYPE(word, family) {word, family},
#define NICKNAME(word, family)
static const preset_word model_types[] = {
#include "rules/preset_types.inc"
};
#undef MODEL_TYPE
#undef NICKNAME
#define MODEL_TYPE(word, family)
#define NICKNAME(word, family) {word, family},
static const preset_word nicknames[] = {
#include "rules/preset_types.inc"
};
#undef MODEL_TYPE
#undef NICKNAME
enum {
  TYPE_COUNT = sizeof model_types / sizeof *model_types,
  NICKNAME_COUNT = sizeof nicknames / sizeof *nicknames
};

const char *tsr_preset_model_type_at(int64_t index, const char **out_family) {
  if (index < 0 || index >= (int)TYPE_COUNT) return NULL;
  *out_family = model_types[index].family;
  return model_types[index].word;
}

static bool is_family(const char *word) {
  for (int i = 0; i < (int)PRESET_COUNT; i++)
    if (!strcmp(presets[i].family, word)) return true;
  return false;
}

const char *tsr_preset_family_at(int64_t index) {
  if (index < 0) return NULL;
  if (index < (int)PRESET_COUNT) return presets[index].family;
  index -= (int)PRESET_COUNT;
  for (int i = 0; i < (int)TYPE_COUNT; i++)
    if (!is_family(model_types[i].word) && index-- == 0) return model_types[i].word;
  return index < (int)NICKNAME_COUNT ? nicknames[index].word : NULL;
}

// The family of such a name; any other name unchanged.
static const char *family_of(const char *name) {
  if (is_family(name)) return name;
  for (int i = 0; i < (int)TYPE_COUNT; i++)
    if (!strcmp(model_types[i].word, name)) return model_types[i].family;
  for (int i = 0; i < (int)NICKNAME_COUNT; i++)
    if (!strcmp(nicknames[i].word, name)) return nicknames[i].family;
  return name;
}

const char *tsr_preset_text(const char *family) {
  const char *own = family_of(family);
  for (int i = 0; i < (int)PRESET_COUNT; i++)
    if (!strcmp(presets[i].family, own)) return presets[i].text;
  return NULL;
}

// ---- names ----

enum { MOST_AXES = 8 };

// "llama:fsdp+tp", split in place.
typedef struct preset_name {
  char *family;
  const char *axes[MOST_AXES];
  int axis_count;
} preset_name;

static tsr_status unknown_family(const char *family) {
  tsr_suggestion near = tsr_suggestion_for(family);
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = 0; tsr_preset_family_at(i); i++)
    tsr_suggestion_offer(&near, tsr_preset_family_at(i));
  for (int i = 0; i < (int)PRESET_COUNT; i++)
    tsr_text_addf(&known, "%s%s", i ? ", " : "", presets[i].family);
  return tsr_text_end(
      &known, tsr_fail(UNKNOWN_PRESET, "there is no preset \"%s\", only %s" TSR_DID_YOU_MEAN,
                       family, tsr_text_string(&known), TSR_SUGGESTED(near)));
}

// The axes that presets use, in the order of variants.
static const char *const preset_axes[] = {"fsdp", "ep", "tp"};
enum { PRESET_AXIS_COUNT = sizeof preset_axes / sizeof *preset_axes };

static bool is_preset_axis(const char *axis) {
  for (int i = 0; i < (int)PRESET_AXIS_COUNT; i++)
    if (!strcmp(preset_axes[i], axis)) return true;
  return false;
}

// Whether the specs of a file use this preset axis as a word.
static bool uses_axis(const char *text, const char *axis) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const size_t length = strlen(axis);
  if (!is_preset_axis(axis)) return false;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += !!*line) {
    const char *arrow = strstr(line, " -> "), *end = line + strcspn(line, "\n");
    if (*line == '#' || !arrow || arrow > end) continue;
    for (const char *at = arrow + 4; at < end; at += strspn(at, letters), at += at < end)
      if (strspn(at, letters) == length && !memcmp(at, axis, length)) return true;
  }
  return false;
}

// "fsdp, ep, tp": the axes that a file's specs use.
static void list_axes(const char *text, tsr_text *out) {
  for (int i = 0; i < (int)PRESET_AXIS_COUNT; i++)
    if (uses_axis(text, preset_axes[i]))
      tsr_text_addf(out, "%s%s", out->length ? ", " : "", preset_axes[i]);
}

static tsr_status no_such_axis(const char *text, const char *family, const char *axis) {
  tsr_text axes = TSR_TEXT_EMPTY;
  list_axes(text, &axes);
  return tsr_text_end(
      &axes, tsr_fail(UNKNOWN_PRESET, "preset \"%s\" has no rules for axis \"%s\", only for %s",
                      family, axis, tsr_text_string(&axes)));
}

static tsr_status check_axes(const char *text, const preset_name *name) {
  for (int i = 0; i < name->axis_count; i++)
    if (!uses_axis(text, name->axes[i])) return no_such_axis(text, name->family, name->axes[i]);
  return NULL;
}

// ---- variants ----

static tsr_status no_common_axis(const char *text, const char *family, const tsr_mesh *mesh) {
  tsr_text axes = TSR_TEXT_EMPTY, given = TSR_TEXT_EMPTY;
  list_axes(text, &axes);
  tsr_mesh_describe(mesh, &given);
  tsr_status status = tsr_text_check(&axes);
  if (!status) status = tsr_text_check(&given);
  if (!status)
    status =
        tsr_fail(UNKNOWN_PRESET,
                 "mesh %s has none of the axes that preset \"%s\" has rules for: %s; each "
                 "device would hold the whole model; name an axis of the mesh like one of them",
                 tsr_text_string(&given), family, tsr_text_string(&axes));
  tsr_text_deinit(&axes);
  tsr_text_deinit(&given);
  return status;
}

// The preset axes of the mesh. One that the family has no rules for is an error: it would only make
// replicas.
static tsr_status infer_axes(const char *text, const tsr_rules_options *options,
                             preset_name *name) {
  for (int i = 0; i < (int)PRESET_AXIS_COUNT; i++) {
    if (tsr_mesh_axis_find(options->mesh, tsr_renamed_axis(options, preset_axes[i])) < 0) continue;
    if (!uses_axis(text, preset_axes[i])) return no_such_axis(text, name->family, preset_axes[i]);
    name->axes[name->axis_count++] = preset_axes[i];
  }
  return name->axis_count ? NULL : no_common_axis(text, name->family, options->mesh);
}

static tsr_status split_axes(char *axes, preset_name *out) {
  for (char *axis = axes; axis;) {
    char *plus = strchr(axis, '+');
    if (plus) *plus = '\0';
    if (!*axis || out->axis_count == MOST_AXES)
      return tsr_fail(UNKNOWN_PRESET, "a variant is a list of axes such as fsdp+tp");
    out->axes[out->axis_count++] = axis;
    axis = plus ? plus + 1 : NULL;
  }
  return NULL;
}

// Splits a name in place into the family's rules and the axes to keep; without a variant, those of
// the mesh.
static tsr_status read_name(char *text, const tsr_rules_options *options, preset_name *out,
                            const char **out_rules) {
  char *colon = strchr(text, ':');
  *out = (preset_name){.family = text};
  if (colon ? !colon[1] : !options->mesh)
    return tsr_fail(UNKNOWN_PRESET,
                    "preset \"%s\" needs a variant, the axes to use, as in \"%.*s:fsdp+tp\"", text,
                    (int)strcspn(text, ":"), text);
  if (colon) {
    *colon = '\0';
    TSR_TRY(split_axes(colon + 1, out));
  }
  const char *rules = tsr_preset_text(out->family);
  if (!rules) return unknown_family(out->family);
  TSR_TRY(colon ? check_axes(rules, out) : infer_axes(rules, options, out));
  *out_rules = rules;
  return NULL;
}

static tsr_status print_name(char *text, const tsr_rules_options *options, tsr_text *out) {
  preset_name name;
  tsr_rules_options own;
  const char *rules = NULL;
  TSR_TRY(tsr_rules_options_copy(options, &own));
  TSR_TRY(read_name(text, &own, &name, &rules));
  tsr_text_add(out, name.family);
  for (int i = 0; i < name.axis_count; i++) tsr_text_addf(out, "%c%s", i ? '+' : ':', name.axes[i]);
  return tsr_text_check(out);
}

tsr_status tsr_preset_name(const char *name, const tsr_rules_options *options, tsr_text *out_name) {
  char *copy = strdup(name);
  if (!copy) return tsr_fail(NO_MEMORY, "a preset");
  tsr_status status = print_name(copy, options, out_name);
  free(copy);
  return status;
}

// ---- rules ----

static tsr_status make_preset(char *text, const tsr_rules_options *options, tsr_rules **out_rules) {
  preset_name name;
  tsr_rules_options own;
  const char *rules = NULL;
  TSR_TRY(tsr_rules_options_copy(options, &own));
  if (own.keep_axes)
    return tsr_fail(BAD_ARGUMENT,
                    "keep_axes is given with a preset, whose variant names the axes to keep");
  TSR_TRY(read_name(text, &own, &name, &rules));
  own.keep_axes = name.axes;
  own.keep_axis_count = name.axis_count;
  char *file = NULL;
  if (asprintf(&file, "%s.rules", family_of(name.family)) < 0)
    return tsr_fail(NO_MEMORY, "a preset");
  tsr_status status = tsr_rules_parse(rules, file, &own, out_rules);
  free(file);
  return status;
}

tsr_status tsr_rules_preset(const char *name, const tsr_rules_options *options,
                            tsr_rules **out_rules) {
  char *copy = strdup(name);
  if (!copy) return tsr_fail(NO_MEMORY, "a preset");
  tsr_status status = make_preset(copy, options, out_rules);
  free(copy);
  return status;
}
