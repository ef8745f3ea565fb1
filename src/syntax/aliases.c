// Names for attributes and types: #name = ..., !name = ...
//
// MLIR defines the aliases of locations after the module that uses them. So the first alias that
// is not known makes the reader find every definition that begins a line, and read them in order:
// definitions use only earlier ones where MLIR printed them, so reading nests no deeper than a
// definition itself. One that cannot be read is reported where it stands, or where it is used.
#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "syntax/reader_parts.h"

static tsr_alias_table *table_of(tsr_reader *reader, tsr_token_kind kind) {
  return kind == TSR_TOKEN_HASH ? &reader->attr_aliases : &reader->type_aliases;
}

static tsr_status token_name(tsr_reader *reader, const tsr_token *token, const char **out_name) {
  *out_name = tsr_ir_name(reader->ir, token->start + 1, tsr_token_length(token) - 1);
  TSR_NEED(*out_name);
  return NULL;
}

static tsr_alias *find(tsr_alias_table *table, const char *name) {
  const int64_t position = tsr_name_index_find(&table->index, name);
  return position < 0 ? NULL : &table->aliases[position];
}

// Adds a definition whose value begins at `at`; the first one of a name stays.
static tsr_status add(tsr_alias_table *table, const char *name, const char *at,
                      tsr_alias **out_alias) {
  tsr_alias *aliases =
      tsr_grow(table->aliases, table->count, &table->capacity, sizeof *table->aliases);
  TSR_NEED(aliases);
  table->aliases = aliases;
  int64_t existing = -1;
  TSR_TRY(tsr_name_index_add(&table->index, name, table->count, &existing));
  if (existing < 0) table->aliases[table->count++] = (tsr_alias){.name = name, .at = at};
  *out_alias = &table->aliases[existing < 0 ? table->count - 1 : existing];
  return NULL;
}

bool tsr_at_alias_definition(const tsr_reader *reader) {
  if (!tsr_at_kind(reader, TSR_TOKEN_HASH) && !tsr_at_kind(reader, TSR_TOKEN_BANG)) return false;
  const tsr_token next = tsr_peek_next(reader);
  return next.kind == TSR_TOKEN_SIGN && tsr_token_is(&next, "=");
}

// Reads the value of an alias where it stands. The table may grow meanwhile, so the alias is found
// again by its position.
static tsr_status read_value(tsr_reader *reader, tsr_token_kind kind, int64_t position) {
  tsr_alias_table *table = table_of(reader, kind);
  tsr_alias *alias = &table->aliases[position];
  if (alias->open)
    return tsr_reader_fail(reader, reader->token.start, SYNTAX, "alias \"%s\" is defined by itself",
                           alias->name);
  const int before = reader->reached;
  reader->reached = reader->depth;
  alias->open = true;
  tsr_reader_seek(reader, alias->at);
  const tsr_attr *attr = NULL;
  const tsr_type *type = NULL;
  tsr_status status =
      kind == TSR_TOKEN_HASH ? tsr_read_attr(reader, NULL, &attr) : tsr_read_type(reader, &type);
  alias = &table->aliases[position];
  alias->open = false;
  alias->attr = attr;
  alias->type = type;
  alias->end = status ? NULL : reader->last_end;
  alias->depth = reader->reached - reader->depth;
  if (before > reader->reached) reader->reached = before;
  return status;
}

// ---- the search for definitions ----

static tsr_status add_line(tsr_reader *reader, const char *line) {
  tsr_reader_seek(reader, line);
  if (!tsr_at_alias_definition(reader)) return NULL;
  const char *name = NULL;
  const tsr_token_kind kind = reader->token.kind;
  TSR_TRY(token_name(reader, &reader->token, &name));
  tsr_next(reader);
  tsr_alias *alias = NULL;
  return add(table_of(reader, kind), name, reader->at, &alias);
}

// Reads all that is not read; failures other than those of memory are left for the definition.
// After a few of them the rest is left too.
static tsr_status read_all(tsr_reader *reader, tsr_token_kind kind) {
  tsr_alias_table *table = table_of(reader, kind);
  int failures = 0;
  for (int64_t i = 0; i < table->count && failures < TSR_ISSUES_SHOWN; i++) {
    assert(table->aliases);
    if (table->aliases[i].end || table->aliases[i].open) continue;
    const int depth = reader->depth;
    tsr_status status = read_value(reader, kind, i);
    reader->depth = depth;
    if (status && tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY) return status;
    failures += status != NULL;
    tsr_status_free(status);
  }
  return NULL;
}

// The position of the reader changes.
static tsr_status search(tsr_reader *reader) {
  reader->searched = true;
  for (const char *line = reader->start; line && line < reader->end;) {
    if (*line == '#' || *line == '!') TSR_TRY(add_line(reader, line));
    line = memchr(line, '\n', (size_t)(reader->end - line));
    if (line) line++;
  }
  TSR_TRY(read_all(reader, TSR_TOKEN_BANG));
  return read_all(reader, TSR_TOKEN_HASH);
}

// ---- use ----

static tsr_status resolve(tsr_reader *reader, tsr_alias *out_alias) {
  const tsr_token token = reader->token;
  tsr_alias_table *table = table_of(reader, token.kind);
  const char *name = NULL;
  TSR_TRY(token_name(reader, &token, &name));
  tsr_alias *alias = find(table, name);
  if ((!alias || !alias->end) && !reader->searched) {
    TSR_TRY(search(reader));
    alias = find(table, name);
  }
  tsr_reader_seek(reader, token.start);
  if (!alias)
    return tsr_reader_fail(reader, token.start, SYNTAX, "alias \"%.*s\" is not defined",
                           (int)tsr_token_length(&token), token.start);
  if (!alias->end) {
    TSR_TRY(read_value(reader, token.kind, alias - table->aliases));
    alias = find(table, name);
  }
  const int depth = reader->depth + alias->depth;
  if (depth > TSR_READER_ALIAS_DEPTH)
    return tsr_reader_fail(reader, token.start, TOO_LARGE, "aliases nested deeper than %d levels",
                           TSR_READER_ALIAS_DEPTH);
  if (depth > reader->reached) reader->reached = depth;
  tsr_reader_seek(reader, token.end);
  *out_alias = *alias;
  return NULL;
}

tsr_status tsr_read_attr_alias(tsr_reader *reader, const tsr_attr **out_attr) {
  tsr_alias alias = {0};
  TSR_TRY(resolve(reader, &alias));
  *out_attr = alias.attr;
  return NULL;
}

tsr_status tsr_read_type_alias(tsr_reader *reader, const tsr_type **out_type) {
  tsr_alias alias = {0};
  TSR_TRY(resolve(reader, &alias));
  *out_type = alias.type;
  return NULL;
}

tsr_status tsr_read_alias_definition(tsr_reader *reader) {
  const tsr_token token = reader->token;
  tsr_alias_table *table = table_of(reader, token.kind);
  const char *name = NULL;
  TSR_TRY(token_name(reader, &token, &name));
  if (memchr(name, '.', strlen(name)))
    return tsr_reader_fail(reader, token.start, SYNTAX,
                           "the name of alias \"%.*s\" has a dot, as those of dialects do",
                           (int)tsr_token_length(&token), token.start);
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "="));
  const char *at = reader->last_end;
  tsr_alias *alias = NULL;
  TSR_TRY(add(table, name, at, &alias));
  if (alias->at != at)
    return tsr_reader_fail(reader, token.start, SYNTAX, "alias \"%.*s\" is defined twice",
                           (int)tsr_token_length(&token), token.start);
  if (!alias->end) return read_value(reader, token.kind, alias - table->aliases);
  tsr_reader_seek(reader, alias->end);
  return NULL;
}
