// The names of the policies for sizes that do not divide.
#include <string.h>

#include "layout/layout.h"
#include "layout/layout_internal.h"

static const char *const names[TSR_POLICY_COUNT] = {
    [TSR_POLICY_ERROR] = "error",
    [TSR_POLICY_TRIM] = "trim",
    [TSR_POLICY_PAD] = "pad",
    [TSR_POLICY_UNEVEN] = "uneven",
};

const char *tsr_policy_name(tsr_policy policy) {
  return (unsigned)policy < TSR_POLICY_COUNT ? names[policy] : NULL;
}

tsr_status tsr_policy_check(tsr_policy policy) {
  if ((unsigned)policy < TSR_POLICY_COUNT) return NULL;
  return tsr_fail(BAD_ARGUMENT, "policy %d does not exist, wanted 0 to %d", (int)policy,
                  TSR_POLICY_COUNT - 1);
}

tsr_status tsr_policy_parse(const char *name, tsr_policy *out_policy) {
  for (int i = 0; i < TSR_POLICY_COUNT; i++) {
    if (strcmp(names[i], name) != 0) continue;
    *out_policy = (tsr_policy)i;
    return NULL;
  }
  return tsr_fail(SYNTAX, "policy \"%s\" is none of error, trim, pad and uneven", name);
}
