// Shell completions, made from the tables of the commands.
#include <string.h>

#include "base/text_internal.h"
#include "command/command.h"

// The words that an option allows; NULL = any value, or a range of numbers.
static const char *words_of(const cli_option *option) {
  int64_t least = 0, most = 0;
  return cli_option_range(option, &least, &most) ? NULL : option->allowed;
}

static void add_words(tsr_text *out, const char *words) {
  for (; *words; words++) tsr_text_add_char(out, *words == '|' ? ' ' : *words);
}

static void bash(tsr_text *out) {
  tsr_text_add(out,
               "# bash completion for tessera\n"
               "_tessera() {\n"
               "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
               "  COMPREPLY=()\n"
               "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
               "    words='help version");
  for (int i = 0; cli_commands[i]; i++) tsr_text_addf(out, " %s", cli_commands[i]->name);
  tsr_text_add(out, "'\n  else\n    case ${COMP_WORDS[1]}:$prev in\n");
  for (int i = 0; cli_commands[i]; i++)
    for (const cli_option *o = cli_commands[i]->options; o->name; o++) {
      if (!words_of(o)) continue;
      tsr_text_addf(out, "      %s:--%s) words='", cli_commands[i]->name, o->name);
      add_words(out, words_of(o));
      tsr_text_add(out, "' ;;\n");
    }
  for (int i = 0; cli_commands[i]; i++) {
    tsr_text_addf(out, "      %s:*) words='--help", cli_commands[i]->name);
    for (const cli_option *o = cli_commands[i]->options; o->name; o++)
      tsr_text_addf(out, " --%s", o->name);
    tsr_text_add(out, "' ;;\n");
  }
  tsr_text_add(out,
               "    esac\n  fi\n"
               "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
               "}\ncomplete -o default -F _tessera tessera\n");
}

// Text inside single quotes for zsh and fish, which both end at the next quote.
static void add_quoted(tsr_text *out, const char *text, const char *escape_these) {
  for (; *text; text++) {
    if (*text == '\'') {
      tsr_text_add(out, "'\\''");
    } else {
      if (strchr(escape_these, *text)) tsr_text_add_char(out, '\\');
      tsr_text_add_char(out, *text);
    }
  }
}

static void zsh_option(const cli_option *o, tsr_text *out) {
  tsr_text_addf(out, "        '--%s[", o->name);
  add_quoted(out, o->help, "[]:");
  tsr_text_add(out, "]");
  if (cli_option_wants_value(o)) {
    tsr_text_addf(out, ":%s:", o->value);
    if (words_of(o)) {
      tsr_text_add(out, "(");
      add_words(out, words_of(o));
      tsr_text_add(out, ")");
    } else {
      tsr_text_add(out, "_files");
    }
  }
  tsr_text_add(out, "' \\\n");
}

static void zsh(tsr_text *out) {
  tsr_text_add(out,
               "#compdef tessera\n"
               "_tessera() {\n"
               "  local -a commands=(\n");
  for (int i = 0; cli_commands[i]; i++) {
    tsr_text_addf(out, "    '%s:", cli_commands[i]->name);
    add_quoted(out, cli_commands[i]->summary, ":");
    tsr_text_add(out, "'\n");
  }
  tsr_text_add(out,
               "  )\n"
               "  if (( CURRENT == 2 )); then\n"
               "    _describe command commands\n"
               "    return\n"
               "  fi\n"
               "  shift words; (( CURRENT-- ))\n"
               "  case $words[1] in\n");
  for (int i = 0; cli_commands[i]; i++) {
    tsr_text_addf(out, "    %s)\n      _arguments \\\n", cli_commands[i]->name);
    for (const cli_option *o = cli_commands[i]->options; o->name; o++) zsh_option(o, out);
    tsr_text_add(out, "        '*: :_files' ;;\n");
  }
  tsr_text_add(out, "  esac\n}\n_tessera \"$@\"\n");
}

static void fish(tsr_text *out) {
  tsr_text_add(out, "# fish completion for tessera\ncomplete -c tessera -f\n");
  for (int i = 0; cli_commands[i]; i++) {
    tsr_text_addf(out, "complete -c tessera -n __fish_use_subcommand -a %s -d '",
                  cli_commands[i]->name);
    add_quoted(out, cli_commands[i]->summary, "\\");
    tsr_text_add(out, "'\n");
    for (const cli_option *o = cli_commands[i]->options; o->name; o++) {
      tsr_text_addf(out, "complete -c tessera -n '__fish_seen_subcommand_from %s' -l %s",
                    cli_commands[i]->name, o->name);
      if (o->letter) tsr_text_addf(out, " -s %c", o->letter);
      const char *words = words_of(o);
      if (cli_option_wants_value(o)) tsr_text_add(out, words ? " -x -a '" : " -r -F");
      add_words(out, words ? words : "");
      tsr_text_addf(out, "%s -d '", words ? "'" : "");
      add_quoted(out, o->help, "\\");
      tsr_text_add(out, "'\n");
    }
  }
}

static tsr_status run_completion(cli_args *args) {
  static const struct {
    const char *shell;
    void (*print)(tsr_text *out);
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
    if (strcmp(shells[i].shell, args->positional[0]) != 0) continue;
    shells[i].print(&args->out);
    return NULL;
  }
  return tsr_fail(BAD_ARGUMENT, "shell \"%s\" is unknown, wanted bash, zsh or fish",
                  args->positional[0]);
}

static const cli_option options[] = {{0}};

const cli_command cli_cmd_completion = {
    .name = "completion",
    .summary = "print a completion script for a shell",
    .usage = "bash|zsh|fish",
    .options = options,
    .description = "",
    .examples =
        "tessera completion bash > ~/.local/share/bash-completion/completions/tessera\n"
        "tessera completion fish > ~/.config/fish/completions/tessera.fish\n",
    .run = run_completion,
};
