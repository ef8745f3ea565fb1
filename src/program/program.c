// A program's handle: opened by content, kept, copied for passes.
//
// The bytes of a file stay in memory as long as the program: its large constants are views of them.
#include "tessera/program/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "bytecode/bytecode.h"
#include "program/program_state.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

// ---- the handle ----

tsr_program *tsr_program_retain(const tsr_program *program) {
  tsr_program *shared = (tsr_program *)(uintptr_t)program;
  atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
  return shared;
}

void tsr_program_release(const tsr_program *program) {
  tsr_program *shared = (tsr_program *)(uintptr_t)program;
  if (!shared || atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) != 1)
    return;
  tsr_program_index_free(shared);
  if (!shared->export_borrowed) tsr_export_destroy(shared->export_file);
  tsr_ir_destroy(shared->ir);
  tsr_arena_deinit(&shared->arena);
  pthread_mutex_destroy(&shared->marks);
  tsr_program_release(shared->origin);
  free(shared);
}

// Takes `ir`, also on failure.
static tsr_status make(tsr_ir *ir, const char *name, tsr_program_form form,
                       tsr_program **out_program) {
  tsr_program *program = ir ? calloc(1, sizeof *program) : NULL;
  if (!program) {
    tsr_ir_destroy(ir);
    return tsr_fail(NO_MEMORY, "program %s", name);
  }
  atomic_init(&program->references, 1);
  pthread_mutex_init(&program->marks, NULL);  // cannot fail with these attributes
  program->ir = ir;
  program->form = form;
  program->name = tsr_arena_copy(&program->arena, name, strlen(name));
  if (!program->name) {
    tsr_program_release(program);
    return tsr_fail(NO_MEMORY, "program %s", name);
  }
  *out_program = program;
  return NULL;
}

// Indexes a new handle and hands it over, or releases it.
static tsr_status finish(tsr_status status, tsr_program *program, tsr_program **out_program) {
  if (!status) status = tsr_program_index(program);
  if (status)
    tsr_program_release(program);
  else
    *out_program = program;
  return status;
}

tsr_status tsr_program_wrap(tsr_ir *ir, const char *name, tsr_program_form form,
                            tsr_program **out_program) {
  tsr_program *program = NULL;
  TSR_TRY(make(ir, name, form, &program));
  return finish(NULL, program, out_program);
}

const tsr_ir *tsr_program_ir(const tsr_program *program) { return program->ir; }

const char *tsr_program_path(const tsr_program *program) { return program->name; }

const tsr_export_file *tsr_program_export(const tsr_program *program) {
  return program->export_file;
}

// ---- opening ----

static tsr_status read_export(tsr_program *program, const char *bytes, size_t length) {
  program->form = TSR_PROGRAM_EXPORT;
  TSR_TRY(tsr_export_read(program->name, bytes, length, &program->export_file));
  return tsr_bytecode_read(program->ir, program->name, program->export_file->module,
                           program->export_file->module_length);
}

// A text holds no zero byte; a file of jax.export begins with a small number of four bytes.
static bool is_text(const char *bytes, size_t length) {
  return !memchr(bytes, '\0', length < sizeof(uint32_t) ? length : sizeof(uint32_t));
}

static tsr_status read_content(tsr_program *program, const char *bytes, size_t length) {
  if (tsr_bytecode_is(bytes, length)) {
    program->form = TSR_PROGRAM_ARTIFACT;
    return tsr_bytecode_read(program->ir, program->name, bytes, length);
  }
  if (is_text(bytes, length)) return tsr_syntax_read(program->ir, program->name, bytes, length);
  return tsr_note(read_export(program, bytes, length),
                  "%s is neither MLIR text nor a portable artifact", program->name);
}

// Takes `bytes`, which live as long as the program.
static tsr_status read_owned(const char *name, char *bytes, size_t length,
                             const tsr_program_options *given, tsr_program **out_program) {
  tsr_program_options options;
  tsr_program *program = NULL;
  tsr_status status = tsr_sized_read(tsr_program_options, given, &options);
  if (!status) status = make(tsr_ir_create(), name, TSR_PROGRAM_TEXT, &program);
  if (status) {
    free(bytes);
    return status;
  }
  if (!tsr_ir_keep(program->ir, bytes, free)) status = tsr_fail(NO_MEMORY, "program %s", name);
  if (!status) status = read_content(program, bytes, length);
  if (!status && !options.unchecked) status = tsr_verify(program->ir, name);
  return finish(status, program, out_program);
}

tsr_status tsr_program_open(const char *path, const tsr_program_options *options,
                            tsr_program **out_program) {
  char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_file_read(path, &bytes, &length));
  return read_owned(path, bytes, length, options, out_program);
}

tsr_status tsr_program_read(const char *name, const void *bytes, size_t length,
                            const tsr_program_options *options, tsr_program **out_program) {
  if (!bytes && length)
    return tsr_fail(BAD_ARGUMENT, "program %s has %zu bytes, but they are NULL", name, length);
  char *copy = malloc(length + 1);
  if (!copy) return tsr_fail(NO_MEMORY, "program %s of %zu bytes", name, length);
  tsr_memory_prefer_huge(copy, length);
  if (length) memcpy(copy, bytes, length);
  copy[length] = '\0';
  return read_owned(name, copy, length, options, out_program);
}

tsr_status tsr_program_vjp(const tsr_program *program, tsr_program **out_vjp) {
  tsr_export_file *vjp = program->export_file ? program->export_file->vjp : NULL;
  if (!vjp) return tsr_fail(NOT_FOUND, "%s holds no vjp", program->name);
  tsr_program *made = NULL;
  TSR_TRY(make(tsr_ir_create(), program->name, TSR_PROGRAM_EXPORT, &made));
  made->export_file = vjp;
  made->export_borrowed = true;
  made->origin = tsr_program_retain(program);
  tsr_status status = tsr_bytecode_read(made->ir, made->name, vjp->module, vjp->module_length);
  if (!status) status = tsr_verify(made->ir, made->name);
  return tsr_note(finish(status, made, out_vjp), "vjp");
}

// ---- copies ----

static void release_origin(void *program) { tsr_program_release(program); }

static bool copy_ops(const tsr_ir *from, tsr_ir *to) {
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *module = map ? tsr_op_clone(to, from->module, map) : NULL;
  tsr_value_map_destroy(map);
  if (module) to->module = module;
  return module;
}

static bool copy_resources(const tsr_ir *from, tsr_ir *to) {
  const size_t bytes = (size_t)from->resource_count * sizeof *to->resources;
  to->resources = tsr_ir_alloc(to, bytes);
  if (!to->resources) return false;
  if (bytes) memcpy(to->resources, from->resources, bytes);
  to->resource_count = from->resource_count;
  return true;
}

tsr_ir *tsr_program_copy_ir(const tsr_program *program) {
  tsr_ir *copy = tsr_ir_create();
  if (copy && tsr_ir_keep(copy, tsr_program_retain(program), release_origin) &&
      copy_ops(program->ir, copy) && copy_resources(program->ir, copy))
    return copy;
  tsr_ir_destroy(copy);
  return NULL;
}

tsr_status tsr_program_check(const tsr_program *program) {
  tsr_ir *copy = tsr_program_copy_ir(program);  // checking adds types to a program
  if (!copy) return tsr_fail(NO_MEMORY, "program %s", program->name);
  tsr_status status = tsr_verify(copy, program->name);
  tsr_ir_destroy(copy);
  return status;
}

bool tsr_program_equal(const tsr_program *a, const tsr_program *b) {
  return a == b || tsr_ir_equal(a->ir, b->ir, NULL);
}
