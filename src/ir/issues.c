// A text that grows by a line or more per failure; the first TSR_ISSUES_SHOWN are kept.
#include "ir/issues.h"

#include "base/status_internal.h"
#include "base/text_internal.h"

void tsr_issues_add(tsr_issues *issues, const char *name, uint32_t line, uint32_t column,
                    tsr_status failure) {
  if (!failure) return;
  if (issues->count++ == 0) issues->cause = tsr_status_cause(failure);
  if (issues->count <= TSR_ISSUES_SHOWN) {
    if (issues->text.length) tsr_text_add_char(&issues->text, '\n');
    if (line && !tsr_status_has_place(failure))
      tsr_text_addf(&issues->text, "%s:%u:%u: ", name, line, column);
    tsr_text_add(&issues->text, tsr_status_text(failure));
  }
  tsr_status_free(failure);
}

tsr_status tsr_issues_take(tsr_issues *issues) {
  if (!issues->count) return NULL;
  if (issues->count > TSR_ISSUES_SHOWN)
    tsr_text_addf(&issues->text, "\nand %lld more", (long long)(issues->count - TSR_ISSUES_SHOWN));
  tsr_status status = tsr_fail_text(issues->cause, &issues->text);
  *issues = (tsr_issues){.text = TSR_TEXT_EMPTY};
  return status;
}
