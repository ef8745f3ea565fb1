#include "base/suggest.h"

#include <string.h>

#include "support/test.h"

static const char *const axes[] = {"data", "model", "fsdp", "expert", "tp", "sp"};

static const struct {
  const char *word, *near;
} cases[] = {
    {"modle", "model"}, {"Model", "model"},  {"mdel", "model"}, {"modell", "model"},
    {"dat", "data"},    {"exprt", "expert"}, {"tb", "tp"},      {"batch", NULL},
    {"x", NULL},        {"", NULL},          {"fsp", "fsdp"},   {"exptre", "expert"},
};

static void the_nearest_name_is_suggested(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_suggestion near = tsr_suggestion_for(cases[i].word);
    for (size_t j = 0; j < COUNT_OF(axes); j++) tsr_suggestion_offer(&near, axes[j]);
    if (cases[i].near)
      assert_string_equal(near.best, cases[i].near);
    else
      assert_null(near.best);
  }
}

static void very_long_names_get_none(void **state) {
  (void)state;
  char word[201], known[201];
  memset(word, 'a', 200);
  memset(known, 'a', 200);
  word[200] = known[199] = '\0';
  tsr_suggestion near = tsr_suggestion_for(word);
  tsr_suggestion_offer(&near, known);
  assert_null(near.best);
}

static void the_message_ends_with_the_suggestion(void **state) {
  (void)state;
  tsr_suggestion near = tsr_suggestion_for("modle");
  assert_fails(tsr_fail(NOT_FOUND, "no axis" TSR_DID_YOU_MEAN, TSR_SUGGESTED(near)), NOT_FOUND,
               "no axis");
  tsr_suggestion_offer(&near, "model");
  assert_fails(tsr_fail(NOT_FOUND, "no axis" TSR_DID_YOU_MEAN, TSR_SUGGESTED(near)), NOT_FOUND,
               "no axis; did you mean \"model\"?");
}

SUITE(suggest, TEST(the_nearest_name_is_suggested), TEST(very_long_names_get_none),
      TEST(the_message_ends_with_the_suggestion))
