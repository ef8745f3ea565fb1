// Presets: rule files that ship with the library, by model family.
//
// The files of presets/ are put into the library when it is built (rules/presets.inc), so that
// a preset is there wherever the library is. A variant names the axes to keep of those a file uses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "rules/rules.h"

typedef struct preset {
  const char *family, *text;
} preset;

// PRESET(family, text) in rows made by the build.
#pragma GCC diagnostic ignored "-Woverlength-strings"
static const preset presets[] = {
#define PRESET(family, text) {family, text},
#include "rules/presets.inc"
#undef PRESET
};
enum { PRESET_COUNT = sizeof presets / sizeof *presets };

// Families whose tensors are named and laid out as those of another.
static const preset aliases[] = {
    {"mistral", "llama"},        {"qwen2", "llama"},        {"qwen3", "llama"},
    {"qwen", "llama"},           {"gemma2", "gemma"},       {"deepseek_v2", "deepseek"},
    {"deepseek_v3", "deepseek"}, {"qwen2_moe", "qwen_moe"}, {"qwen3_moe", "qwen_moe"},
    {"gemma3", "gemma"},         {"qwen2_vl", "llama"},     {"qwen2_5_vl", "llama"},
    {"command_r", "cohere"},     {"cohere2", "cohere"},     {"pythia", "gpt_neox"},
    {"bloom", "gpt_neox"},       {"falcon", "gpt_neox"},
};
enum { ALIAS_COUNT = sizeof aliases / sizeof *aliases };

const char *tsr_preset_family(int index) {
  if (index < 0 || index >= (int)PRESET_COUNT + (int)ALIAS_COUNT) return NULL;
  return index < (int)PRESET_COUNT ? presets[index].family
                                   : aliases[index - (int)PRESET_COUNT].family;
}

const char *tsr_preset_text(const char *family) {
  for (int i = 0; i < (int)ALIAS_COUNT; i++)
    if (!strcmp(aliases[i].family, family)) family = aliases[i].text;
  for (int i = 0; i < (int)PRESET_COUNT; i++)
    if (!strcmp(presets[i].family, family)) return presets[i].text;
  return NULL;
}

// ---- names ----

enum { MOST_AXES = 8 };

// "llama:fsdp+tp", taken apart in place.
typedef struct preset_name {
  char *family;
  const char *axes[MOST_AXES];
  int axis_count;
} preset_name;

static tsr_status unknown_family(const char *family) {
  tsr_suggestion near = tsr_suggestion_for(family);
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = 0; tsr_preset_family(i); i++) {
    tsr_suggestion_offer(&near, tsr_preset_family(i));
    tsr_text_addf(&known, "%s%s", i ? ", " : "", tsr_preset_family(i));
  }
  tsr_status status =
      known.failed ? tsr_fail(NO_MEMORY, "a message")
                   : tsr_fail(UNKNOWN_PRESET, "there is no preset \"%s\", only %s" TSR_DID_YOU_MEAN,
                              family, tsr_text_string(&known), TSR_SUGGESTED(near));
  tsr_text_deinit(&known);
  return status;
}

// Whether a file's specs use an axis: one of those that presets know, as a word of its own.
static bool uses_axis(const char *text, const char *axis) {
  static const char known[][8] = {"fsdp", "tp", "ep"};
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const size_t length = strlen(axis);
  bool is_known = false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_known |= !strcmp(axis, known[i]);
  for (const char *line = text; is_known && *line; line += strcspn(line, "\n"), line += !!*line) {
    const char *arrow = strstr(line, " -> "), *end = line + strcspn(line, "\n");
    if (*line == '#' || !arrow || arrow > end) continue;
    for (const char *at = arrow + 4; at < end; at += strspn(at, letters), at += at < end)
      if (strspn(at, letters) == length && !memcmp(at, axis, length)) return true;
  }
  return false;
}

static tsr_status check_axes(const char *text, const preset_name *name) {
  for (int i = 0; i < name->axis_count; i++)
    if (!uses_axis(text, name->axes[i]))
      return tsr_fail(UNKNOWN_PRESET, "preset \"%s\" has no rules for axis \"%s\"", name->family,
                      name->axes[i]);
  return NULL;
}

static tsr_status split_name(char *text, preset_name *out) {
  char *colon = strchr(text, ':');
  *out = (preset_name){.family = text};
  if (!colon || !colon[1])
    return tsr_fail(UNKNOWN_PRESET,
                    "preset \"%s\" wants a variant, the axes to use, as in \"%.*s:fsdp+tp\"", text,
                    (int)strcspn(text, ":"), text);
  *colon = '\0';
  for (char *axis = colon + 1; axis;) {
    char *plus = strchr(axis, '+');
    if (plus) *plus = '\0';
    if (!*axis || out->axis_count == MOST_AXES)
      return tsr_fail(UNKNOWN_PRESET, "a variant is a list of axes such as fsdp+tp");
    out->axes[out->axis_count++] = axis;
    axis = plus ? plus + 1 : NULL;
  }
  return NULL;
}

static tsr_status make_preset(char *text, const tsr_rules_options *options, tsr_rules **out_rules) {
  preset_name name;
  tsr_rules_options own;
  TSR_TRY(tsr_rules_options_copy(options, &own));
  if (own.keep_axes) return tsr_fail(BAD_ARGUMENT, "a preset's variant says which axes to keep");
  TSR_TRY(split_name(text, &name));
  const char *rules = tsr_preset_text(name.family);
  if (!rules) return unknown_family(name.family);
  TSR_TRY(check_axes(rules, &name));
  own.keep_axes = name.axes;
  own.keep_axis_count = name.axis_count;
  char *file = NULL;
  if (asprintf(&file, "%s.rules", name.family) < 0) return tsr_fail(NO_MEMORY, "a preset");
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
