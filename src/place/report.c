// Reports on placed arrays, in words.
#include "base/text_internal.h"
#include "place/place.h"
#include "place/place_internal.h"
#include "plan/plan.h"

static const struct {
  const char *word, *text;
} outcomes[TSR_OUTCOME_COUNT] = {
#define X(id, outcome_word, outcome_text) [TSR_OUTCOME_##id] = {outcome_word, outcome_text},
    TSR_OUTCOMES(X)
#undef X
};

const char *tsr_outcome_word(tsr_outcome outcome) {
  return (unsigned)outcome < TSR_OUTCOME_COUNT ? outcomes[outcome].word : NULL;
}
const char *tsr_outcome_text(tsr_outcome outcome) {
  return (unsigned)outcome < TSR_OUTCOME_COUNT ? outcomes[outcome].text : NULL;
}

void tsr_place_report_deinit(tsr_place_report *report) {
  if (!report) return;
  tsr_changes_deinit(&report->changes);  // before `wanted`, to which its names belong
  tsr_spec_release(report->wanted);
  tsr_spec_release(report->spec);
  report->changes = (tsr_changes){0};
  report->wanted = report->spec = NULL;
}

void tsr_place_report_print(const tsr_place_report *report, tsr_text *out) {
  tsr_text_add(out, tsr_outcome_text(report->outcome));
  if (report->spec) {
    tsr_text_add(out, ": ");
    tsr_spec_add(report->spec, out);
  }
  tsr_text_add_char(out, '\n');
  tsr_changes_print(&report->changes, out);
}

void tsr_decision_deinit(tsr_placement_decision *decision) {
  tsr_layout_release(decision->layout);
  decision->layout = NULL;
  tsr_place_report_deinit(&decision->report);
}
