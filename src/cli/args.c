// Arguments: one table per command decides what is legal, so that a typing error gets a suggestion
// and help cannot go out of date.
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/suggest.h"

static tsr_status parse_int(const char *what, const char *text, const char **end, int64_t *out) {
  errno = 0;
  char *stop = NULL;
  const long long value = strtoll(text, &stop, 10);
  if (stop == text)
    return tsr_fail(NOT_AN_INTEGER, "%s: \"%s\" is not a whole number such as 8", what, text);
  if (errno == ERANGE) return tsr_fail(OVERFLOW, "%s: \"%s\" does not fit 64 bits", what, text);
  *end = stop;
  *out = value;
  return NULL;
}

static tsr_status read_int(const char *option, const char *text, int64_t *out_value) {
  errno = 0;
  char *end = NULL;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end)
    return tsr_fail(NOT_AN_INTEGER, "--%s is \"%s\", wanted a whole number", option, text);
  if (errno == ERANGE) return tsr_fail(OVERFLOW, "--%s: %s does not fit 64 bits", option, text);
  *out_value = value;
  return NULL;
}

// ---- options ----

static int find_option(const cli_command *command, const char *name, size_t length) {
  for (int i = 0; command->options[i].name; i++)
    if (strlen(command->options[i].name) == length &&
        !memcmp(command->options[i].name, name, length))
      return i;
  return -1;
}

static int find_letter(const cli_command *command, char letter) {
  for (int i = 0; command->options[i].name; i++)
    if (command->options[i].letter == letter) return i;
  return -1;
}

static tsr_status unknown_option(const cli_command *command, const char *name) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (const cli_option *o = command->options; o->name; o++) tsr_suggestion_offer(&near, o->name);
  tsr_suggestion_offer(&near, "help");
  if (near.best)
    return tsr_fail(BAD_ARGUMENT, "no option --%s; did you mean --%s?", name, near.best);
  return tsr_fail(BAD_ARGUMENT, "no option --%s", name);
}

bool cli_option_range(const cli_option *option, int64_t *out_least, int64_t *out_most) {
  long long least = 0, most = INT64_MAX;
  if (!option->allowed || sscanf(option->allowed, "%lld..%lld", &least, &most) < 1) return false;
  *out_least = least;
  *out_most = most;
  return true;
}

static tsr_status check_range(const cli_option *option, int64_t value, int64_t least,
                              int64_t most) {
  if (value >= least && value <= most) return NULL;
  if (most == INT64_MAX)
    return tsr_fail(BAD_ARGUMENT, "--%s is %lld, wanted %lld or more", option->name,
                    (long long)value, (long long)least);
  return tsr_fail(BAD_ARGUMENT, "--%s is %lld, wanted %lld to %lld", option->name, (long long)value,
                  (long long)least, (long long)most);
}

static tsr_status check_allowed(const cli_option *option, const char *value) {
  int64_t least = 0, most = 0, number = 0;
  if (!option->allowed) return NULL;
  if (cli_option_range(option, &least, &most)) {
    TSR_TRY(read_int(option->name, value, &number));
    return check_range(option, number, least, most);
  }
  const size_t length = strlen(value);
  for (const char *word = option->allowed; word;) {
    const char *end = strchr(word, '|');
    const size_t size = end ? (size_t)(end - word) : strlen(word);
    if (size == length && !memcmp(word, value, size)) return NULL;
    word = end ? end + 1 : NULL;
  }
  return tsr_fail(BAD_ARGUMENT, "--%s is \"%s\", wanted one of %s", option->name, value,
                  option->allowed);
}

bool cli_option_wants_value(const cli_option *option) {
  return option->value && option->value[0] != '[';
}

static bool takes_optional_value(const cli_option *option) {
  return option->value && option->value[0] == '[';
}

static bool may_be_repeated(const cli_option *option) {
  static const char *const names[] = {"include", "exclude", "cast", "if"};
  if (takes_optional_value(option)) return true;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(option->name, names[i])) return true;
  return false;
}

static const char *last_value(const cli_args *args, int option) {
  for (int i = args->given_count - 1; i >= 0; i--)
    if (args->given[i].option == option) return args->given[i].value;
  return NULL;
}

static tsr_status keep_value(cli_args *args, int index, const char *value) {
  const cli_option *option = &args->command->options[index];
  const char *before = last_value(args, index);
  if (before && strcmp(before, value) != 0 && !may_be_repeated(option))
    return tsr_fail(BAD_ARGUMENT, "--%s is given twice, as \"%s\" and as \"%s\"", option->name,
                    before, value);
  if (args->given_count == CLI_MAX_GIVEN)
    return tsr_fail(BAD_ARGUMENT, "more than %d options are given", CLI_MAX_GIVEN);
  args->given[args->given_count].option = index;
  args->given[args->given_count++].value = value;
  return NULL;
}

static tsr_status set_option(int index, const char *value, int argc, char **argv, int *i,
                             cli_args *args) {
  const cli_option *option = &args->command->options[index];
  if (!option->value) {
    if (value) return tsr_fail(BAD_ARGUMENT, "--%s takes no value", option->name);
    return keep_value(args, index, "");
  }
  if (!value && takes_optional_value(option)) value = "";
  if (!value) {
    if (*i + 1 >= argc)
      return tsr_fail(BAD_ARGUMENT, "--%s wants a value: --%s %s", option->name, option->name,
                      option->value);
    value = argv[++*i];
  }
  TSR_TRY(keep_value(args, index, value));
  return check_allowed(option, value);
}

static tsr_status parse_long(int argc, char **argv, int *i, cli_args *args) {
  const char *name = argv[*i] + 2, *equals = strchr(name, '=');
  const size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const int index = find_option(args->command, name, length);
  if (index < 0) {
    char unknown[64];
    snprintf(unknown, sizeof unknown, "%.*s", (int)(length < 63 ? length : 63), name);
    return unknown_option(args->command, unknown);
  }
  return set_option(index, equals ? equals + 1 : NULL, argc, argv, i, args);
}

static tsr_status parse_short(int argc, char **argv, int *i, cli_args *args) {
  const char *letters = argv[*i] + 1;
  const int index = find_letter(args->command, letters[0]);
  if (index < 0) return tsr_fail(BAD_ARGUMENT, "no option -%c", letters[0]);
  if (letters[1] && !args->command->options[index].value)
    return tsr_fail(BAD_ARGUMENT, "-%c takes no value", letters[0]);
  return set_option(index, letters[1] ? letters + 1 : NULL, argc, argv, i, args);
}

// A negative number is an argument, not an option.
static bool is_option(const char *arg) {
  return arg[0] == '-' && arg[1] && !(arg[1] >= '0' && arg[1] <= '9');
}

// ---- arguments ----

// The usage begins with the positional arguments: "SPEC [SPEC] [options]" takes one or two.
static bool takes_count(const char *usage, int count) {
  int least = 0, most = 0;
  while (*usage && *usage != '-' && strncmp(usage, "[-", 2) != 0 &&
         strcmp(usage, "[options]") != 0) {
    least += *usage != '[';
    most++;
    usage += strcspn(usage, " ");
    usage += *usage == ' ';
  }
  return count >= least && count <= most;
}

tsr_status cli_parse(const cli_command *command, int argc, char **argv, const char **positional,
                     cli_args *out_args, bool *out_help) {
  cli_args args = {.command = command, .positional = positional};
  bool only_positional = false;
  for (int i = 0; i < argc; i++) {
    const char *arg = argv[i];
    if (only_positional || !is_option(arg)) {
      positional[args.count++] = arg;
    } else if (!strcmp(arg, "--")) {
      only_positional = true;
    } else if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      *out_help = true;
      return NULL;
    } else {
      TSR_TRY((arg[1] == '-' ? parse_long : parse_short)(argc, argv, &i, &args));
    }
  }
  if (!takes_count(command->usage, args.count))
    return tsr_fail(BAD_ARGUMENT, "%d argument%s given; usage: tessera %s %s", args.count,
                    args.count == 1 ? "" : "s", command->name, command->usage);
  *out_args = args;
  return NULL;
}

const char *cli_value(const cli_args *args, const char *option) {
  return last_value(args, find_option(args->command, option, strlen(option)));
}

int cli_values(const cli_args *args, const char *option, const char **out_values) {
  const int index = find_option(args->command, option, strlen(option));
  int count = 0;
  for (int i = 0; i < args->given_count; i++)
    if (args->given[i].option == index) out_values[count++] = args->given[i].value;
  return count;
}

bool cli_has(const cli_args *args, const char *option) { return cli_value(args, option) != NULL; }

bool cli_takes(const cli_args *args, const char *option) {
  return find_option(args->command, option, strlen(option)) >= 0;
}

tsr_status cli_required(const cli_args *args, const char *option, const char **out_value) {
  const int index = find_option(args->command, option, strlen(option));
  const cli_option *row = &args->command->options[index];
  const char *value = last_value(args, index);
  if (!value) return tsr_fail(BAD_ARGUMENT, "--%s %s is needed: %s", option, row->value, row->help);
  *out_value = value;
  return NULL;
}

tsr_status cli_int(const cli_args *args, const char *option, int64_t fallback, int64_t *out_value) {
  const char *text = cli_value(args, option);
  if (text) return read_int(option, text, out_value);
  *out_value = fallback;
  return NULL;
}

tsr_status cli_bytes(const cli_args *args, const char *option, int64_t *out_bytes) {
  static const struct {
    const char *suffix;
    double factor;
  } suffixes[] = {{"", 1},         {"B", 1},        {"kB", 1e3},     {"MB", 1e6},    {"GB", 1e9},
                  {"TB", 1e12},    {"K", 0x1p10},   {"M", 0x1p20},   {"G", 0x1p30},  {"T", 0x1p40},
                  {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  const char *text = cli_value(args, option);
  char *end = NULL;
  errno = 0;
  const double number = strtod(text, &end);
  for (size_t i = 0; end != text && i < sizeof suffixes / sizeof *suffixes; i++) {
    if (strcmp(end, suffixes[i].suffix) != 0) continue;
    const double bytes = number * suffixes[i].factor;
    if (!(bytes >= 0 && bytes < 9e18)) break;
    *out_bytes = (int64_t)bytes;
    return NULL;
  }
  return tsr_fail(BAD_ARGUMENT, "--%s is \"%s\", wanted a size such as 16G, 500MB or 80GiB", option,
                  text);
}

tsr_status cli_ints(const char *what, const char *text, int max, int64_t *out_values,
                    int *out_count) {
  int count = 0;
  for (const char *p = text;; p++) {
    if (count == max)
      return tsr_fail(TOO_LARGE, "%s: \"%s\" has more than %d number%s", what, text, max,
                      max == 1 ? "" : "s");
    TSR_TRY(parse_int(what, p, &p, &out_values[count++]));
    if (!*p) break;
    if (*p != ',' && *p != 'x')
      return tsr_fail(SYNTAX, "%s: \"%s\" after a number in \"%s\", wanted a comma", what, p, text);
  }
  *out_count = count;
  return NULL;
}

tsr_status cli_names(const char *what, const char *text, int max, char *buffer, size_t buffer_size,
                     const char **out_names, int *out_count) {
  if (strlen(text) >= buffer_size) return tsr_fail(TOO_LARGE, "%s: too long", what);
  strcpy(buffer, text);
  int count = 0;
  for (char *p = buffer, *next; p; p = next) {
    next = strchr(p, ',');
    if (next) *next++ = '\0';
    if (!*p) return tsr_fail(SYNTAX, "%s: an empty name in \"%s\"", what, text);
    if (count == max) return tsr_fail(TOO_LARGE, "%s: more than %d names", what, max);
    out_names[count++] = p;
  }
  *out_count = count;
  return NULL;
}

bool cli_use_color(const cli_args *args) {
  const char *choice = cli_value(args, "color");
  if (choice && !strcmp(choice, "always")) return true;
  if (choice && !strcmp(choice, "never")) return false;
  const char *no_color = getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

int cli_width(void) {
  struct winsize size;
  if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col > 0) return size.ws_col;
  return 100;
}

tsr_status cli_check_one_of(const cli_args *args, const char *const *options) {
  const char *first = NULL;
  for (; *options; options++) {
    if (!cli_has(args, *options)) continue;
    if (first) return tsr_fail(BAD_ARGUMENT, "--%s and --%s do not go together", first, *options);
    first = *options;
  }
  return NULL;
}
