// What the commands that write a checkpoint say when one is written, or cannot be.
#ifndef TESSERA_CLI_TRANSFORM_TALK_H
#define TESSERA_CLI_TRANSFORM_TALK_H

#include "cli/cli.h"
#include "json/json.h"
#include "tessera/checkpoint/transform.h"

// Members of the object that is open.
void cli_write_transform_report(const tsr_transform_report *report, tsr_json_writer *json);
// Warnings on standard error: what a cast lost, and what was not checked.
tsr_status cli_say_transform_report(const tsr_transform_report *report, const char *from,
                                    const char *to);
// A warning where the config.json of a new folder says another type than the one tensors were cast
// to: it goes along as it was.
void cli_warn_of_config(const char *folder, tsr_dtype cast);
// Says which option helps. Takes the failure over.
tsr_status cli_advise_on_transform(tsr_status status);

#endif
