// Which option helps against which failure. The library knows no options of the command: its
// messages name what is wrong, and the table here adds a second line.
#include <string.h>

#include "cli/cli.h"

typedef struct cause_hint {
  tsr_cause cause;
  const char *option;  // shown only by commands that take this option; NULL = by all
  const char *unless;  // not shown if one of these ("a|b") is given; NULL = always shown
  const char *text;
} cause_hint;

// The first row that fits is shown.
static const cause_hint hints[] = {
    {TSR_CAUSE_ALREADY_THERE, "force", "force|resume",
     "--force replaces the checkpoint at the destination, --resume continues an unfinished job"},
    {TSR_CAUSE_CANCELLED, "resume", NULL,
     "the same command with --resume continues the job, with --force it starts again"},
    {TSR_CAUSE_CAST_OVERFLOW, "allow-overflow", NULL,
     "--allow-overflow lets such values become inf or nan and counts them; add --resume to "
     "continue the job"},
    {TSR_CAUSE_COMM_TIMEOUT, "timeout", NULL, "--timeout SECONDS waits longer, -1 without limit"},
    {TSR_CAUSE_COMPANIONS_APART, "no-companions", NULL,
     "--no-companions treats scales and states like any other tensor"},
    {TSR_CAUSE_COPIES_DIFFER, "trust-replicas", NULL,
     "`tessera fsck --deep` lists all such replicas, --trust-replicas takes the first"},
    {TSR_CAUSE_DISK_FULL, "resume", NULL, "free some space, then --resume continues the job"},
    {TSR_CAUSE_DOES_NOT_FIT, "max-memory", "fit", "--max-memory SIZE sets the limit"},
    {TSR_CAUSE_DOES_NOT_FIT, "fit", NULL, "use more devices, or a larger --fit SIZE"},
    {TSR_CAUSE_JOURNAL_MISMATCH, "force", NULL,
     "give the options of the unfinished job, or --force instead of --resume to start again"},
    {TSR_CAUSE_NO_DTYPE, "npy-dtype", NULL, "--npy-dtype DTYPE says what the elements are"},
    {TSR_CAUSE_NO_INDEX, NULL, NULL,
     "name one of the files; `tessera fsck --repair` writes an index if they are one model"},
    {TSR_CAUSE_NO_RULE, "allow-unmatched", NULL,
     "--allow-unmatched replicates tensors that no rule matches"},
    {TSR_CAUSE_PLAN_REQUIRED, "from-second", NULL,
     "give the plan from `tessera plan --json` with --from for A or --from-second for B"},
    {TSR_CAUSE_PLAN_REQUIRED, "from", NULL,
     "--from PLAN takes it from `tessera plan --json`; beside the files it is tessera-plan.json"},
    {TSR_CAUSE_PLAN_REQUIRED, NULL, NULL,
     "`tessera gather --from PLAN` makes the tensors whole, `tessera reshard --from PLAN` cuts "
     "them again"},
    {TSR_CAUSE_QUANTISED, "cast", NULL,
     "--cast REGEX=DTYPE casts only tensors that match, --no-companions also quantised ones"},
    {TSR_CAUSE_SOURCE_DAMAGED, "trust-source", NULL,
     "`tessera fsck --deep` lists all damage, --trust-source copies the source as it is"},
    {TSR_CAUSE_UNKNOWN_FACT, "fact", NULL, "--fact NAME=N gives the number"},
    {TSR_CAUSE_UNKNOWN_PRESET, "preset", "preset|map|axes",
     "--preset FAMILY, --rules FILE or --auto says how to cut, --axes OLD=NEW renames axes"},
};

static bool any_given(const cli_args *args, const char *options) {
  char name[32];
  while (options && *options) {
    const int length = (int)strcspn(options, "|");
    snprintf(name, sizeof name, "%.*s", length, options);
    if (cli_has(args, name)) return true;
    options += length + (options[length] == '|');
  }
  return false;
}

static const char *find_hint(const cli_args *args, tsr_cause cause) {
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    if (hints[i].cause == cause && (!hints[i].option || cli_takes(args, hints[i].option)) &&
        !any_given(args, hints[i].unless))
      return hints[i].text;
  return NULL;
}

int cli_report(const cli_args *args, tsr_status status) {
  const tsr_cause cause = tsr_status_cause(status);
  const bool usage = cause == TSR_CAUSE_BAD_ARGUMENT;
  const char *command = args->command->name, *hint = find_hint(args, cause);
  fprintf(stderr, "tessera %s: %s\n", command, tsr_status_text(status));
  if (hint) fprintf(stderr, "hint: %s\n", hint);
  if (usage) fprintf(stderr, "hint: `tessera %s --help` lists the options\n", command);
  const int code = usage ? EXIT_USAGE : EXIT_FAILED + (int)tsr_status_code(status);
  tsr_status_free(status);
  return code;
}
