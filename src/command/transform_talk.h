// Reports of the commands that write a checkpoint.
#ifndef TESSERA_COMMAND_TRANSFORM_TALK_H
#define TESSERA_COMMAND_TRANSFORM_TALK_H

#include "cli/cli.h"
#include "json/json.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/tessera.h"

// Writes members of the open object.
void cli_write_transform_report(const tsr_transform_report *report, tsr_json_writer *json);
// Warns on standard error of values that a cast lost and of tensors that were not checked.
tsr_status cli_say_transform_report(const tsr_transform_report *report, const char *from,
                                    const char *to);
// Warns if the config.json of a new folder, which is copied unchanged, names another dtype than the
// one tensors were cast to.
void cli_warn_of_config(const char *folder, tsr_dtype cast);

#endif
