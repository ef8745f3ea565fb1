// The preset of a model: the one whose header lists the model_type of its config.json.
//
// Multimodal models wrap a language model, whose config is nested in theirs. If no preset lists the
// outer type, the preset of the inner type is used. Old configs lack a model_type; then the class
// in `architectures` names it ("Qwen2MoeForCausalLM").
#include <ctype.h>
#include <string.h>

#include "base/text_internal.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"

// A model type found in a config, and where.
typedef struct found_type {
  const char *text;
  size_t length;
  const char *key, *nested;  // "model_type"; the nested config it is in, NULL = the outer one
  bool is_class;             // "LlamaForCausalLM"
} found_type;

static const char *const nested_keys[] = {"text_config", "llm_config", "language_config"};

const tsr_json *tsr_config_nested(const tsr_json *config, const char **out_key) {
  for (size_t i = 0; i < sizeof nested_keys / sizeof *nested_keys; i++) {
    const tsr_json *nested = tsr_json_find(config, nested_keys[i]);
    if (!nested || tsr_json_kind_of(nested) != TSR_JSON_OBJECT) continue;
    *out_key = nested_keys[i];
    return nested;
  }
  return NULL;
}

static bool read_string(const tsr_json *value, found_type *out) {
  if (!value || tsr_json_kind_of(value) != TSR_JSON_STRING) return false;
  tsr_status_free(tsr_json_get_string(value, "model_type", &out->text, &out->length));
  return out->length > 0;
}

static bool find_type(const tsr_json *config, const char *nested, found_type *out) {
  *out = (found_type){.key = "model_type", .nested = nested};
  if (read_string(tsr_json_find(config, "model_type"), out)) return true;
  const tsr_json *classes = tsr_json_find(config, "architectures");
  if (!classes || tsr_json_kind_of(classes) != TSR_JSON_ARRAY) return false;
  *out = (found_type){.key = "architectures", .nested = nested, .is_class = true};
  return read_string(tsr_json_at(classes, 0), out);
}

// The length of the model's name in a class name: "Qwen2Moe".
static size_t stem_length(const char *name, size_t length) {
  static const char *const ends[] = {"For", "LMHeadModel", "Model"};
  for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
    const char *end = memmem(name, length, ends[e], strlen(ends[e]));
    if (end && end != name) return (size_t)(end - name);
  }
  return length;
}

// Whether a class stem names this type: "Qwen2Moe" is "qwen2_moe".
static bool is_stem_of(const char *stem, size_t length, const char *type) {
  size_t at = 0;
  for (; *type; type++) {
    if (*type == '_' || *type == '-') continue;
    if (at == length || tolower((unsigned char)stem[at++]) != *type) return false;
  }
  return at == length;
}

static bool is_type(const found_type *found, const char *type) {
  if (found->is_class)
    return is_stem_of(found->text, stem_length(found->text, found->length), type);
  return strlen(type) == found->length && !memcmp(type, found->text, found->length);
}

static const char *family_for(const found_type *found) {
  const char *family = NULL, *type = NULL;
  for (int i = 0; (type = tsr_preset_model_type_at(i, &family)); i++)
    if (is_type(found, type)) return family;
  return NULL;
}

// Types are short; anything longer is cut off.
static void print_found(const found_type *found, tsr_text *out) {
  enum { MOST = 64 };
  const bool is_long = found->length > MOST;
  tsr_text_addf(out, "%s%s%s \"%.*s%s\"", found->nested ? found->nested : "",
                found->nested ? "." : "", found->key, is_long ? MOST : (int)found->length,
                found->text, is_long ? "..." : "");
}

tsr_status tsr_preset_from_config(const tsr_json *config, const char **out_family,
                                  tsr_text *out_reason) {
  found_type whole, nested;
  const char *key = NULL, *family = NULL;
  if (!config || tsr_json_kind_of(config) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "a model's config must be an object");
  const found_type *found = find_type(config, NULL, &whole) ? &whole : NULL;
  if (found) family = family_for(found);
  const tsr_json *inner = tsr_config_nested(config, &key);
  if (!family && inner && find_type(inner, key, &nested)) {
    family = family_for(&nested);
    if (family || !found) found = &nested;
  }
  if (out_reason && found) print_found(found, out_reason);
  if (out_reason) TSR_TRY(tsr_text_check(out_reason));
  *out_family = family;
  return NULL;
}
