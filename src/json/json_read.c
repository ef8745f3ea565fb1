// Checks that readers of JSON documents repeat: known keys, the schema, arrays, terminated strings.
#include "json/json_read.h"

#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "tessera/status.h"
#include "tessera/text.h"

static tsr_status unknown_key(const tsr_json *member, const char *const *keys) {
  size_t length = 0;
  const char *key = tsr_json_key(member, &length);
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = 0; keys[i]; i++)
    tsr_text_addf(&known, "%s%s", i == 0 ? "" : keys[i + 1] ? ", " : " or ", keys[i]);
  tsr_status status =
      tsr_fail(UNKNOWN_FIELD, "key \"%.*s\" is not %s", (int)length, key, tsr_text_string(&known));
  tsr_text_deinit(&known);
  return status;
}

tsr_status tsr_json_check_keys(const tsr_json *value, const char *const *keys) {
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "wanted an object, found %s",
                    tsr_json_kind_name(tsr_json_kind_of(value)));
  for (const tsr_json *member = tsr_json_first(value); member; member = tsr_json_next(member)) {
    bool known = false;
    for (int i = 0; keys[i] && !known; i++) known = tsr_json_key_is(member, keys[i]);
    if (!known) return unknown_key(member, keys);
  }
  return NULL;
}

tsr_status tsr_json_check_schema(const tsr_json *value, const char *schema) {
  const tsr_json *schema_value = tsr_json_find(value, "schema");
  const char *found = NULL;
  size_t length = 0;
  if (tsr_json_is_string(schema_value, schema)) return NULL;
  TSR_TRY(tsr_json_get_string(schema_value, "schema", &found, &length));
  return tsr_fail(UNSUPPORTED, "schema \"%.*s\" is not supported, wanted \"%s\"", (int)length,
                  found, schema);
}

tsr_status tsr_json_want_array(const tsr_json *value, const char *what) {
  if (value && tsr_json_kind_of(value) == TSR_JSON_ARRAY) return NULL;
  return tsr_json_wrong_kind(value, what, "an array");
}

tsr_status tsr_json_copy_string(const tsr_json *value, const char *what, tsr_arena *arena,
                                const char **out_string) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, what, &bytes, &length));
  if (memchr(bytes, '\0', length)) return tsr_fail(SYNTAX, "%s contains a zero byte", what);
  *out_string = tsr_arena_copy(arena, bytes, length);
  return *out_string ? NULL : tsr_fail(NO_MEMORY, "%s", what);
}
