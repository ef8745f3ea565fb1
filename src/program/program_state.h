// The fields of a program's handle, shared by the files of this room.
#ifndef TESSERA_PROGRAM_PROGRAM_STATE_H
#define TESSERA_PROGRAM_PROGRAM_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "bytecode/export_file.h"
#include "program/program_internal.h"

typedef struct tsr_program_row {
  const tsr_op *op;
  int64_t op_count;
  tsr_program_value *arguments, *results;
} tsr_program_row;

struct tsr_program {
  atomic_int references;
  tsr_arena arena;  // names, texts and rows
  tsr_ir *ir;
  pthread_mutex_t marks;  // held while a function writes marks to the program's ops and values
  const char *name;
  tsr_program_form form;
  tsr_export_file *export_file;  // or NULL
  bool export_borrowed;          // it belongs to the program that this one is the vjp of
  tsr_program *origin;           // whose memory the constants live in; or NULL
  int64_t function_count, mesh_count, op_count, constant_bytes;
  tsr_program_row *functions;
  const tsr_op **meshes;
};

// Fills the rows of functions and meshes.
TSR_MUST_USE tsr_status tsr_program_index(tsr_program *program);
void tsr_program_index_free(tsr_program *program);  // what the rows hold beside the arena

#endif
