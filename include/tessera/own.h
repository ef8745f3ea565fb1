// Owned handles in C: released at the end of their block, on every way out.
//
//   static tsr_status run(void) {
//     TSR_OWN(mesh, mesh);        // tsr_mesh *mesh = NULL, released at the end of run
//     TSR_OWN(text, text);        // tsr_text text, empty, deinitialised at the end of run
//     TSR_TRY(tsr_mesh_parse("data=4,model=2", NULL, &mesh));
//     tsr_mesh_print(mesh, &text);
//     printf("%s\n", tsr_text_string(&text));
//     return NULL;
//   }
//   int main(void) { return tsr_status_exit(run()); }
//
// The first word is the type without tsr_, the second the variable. The variable declared last is
// released first. To hand a handle on, set the variable to NULL: `*out_mesh = mesh; mesh = NULL;`.
// Fill a variable once: a second handle would overwrite the first, which would leak.
//
// By the cleanup attribute of gcc and clang. In C++ tessera.hpp has classes for the same.
#ifndef TESSERA_OWN_H
#define TESSERA_OWN_H

#ifndef __cplusplus

// The handles: type, the verb that releases one, its argument. Types are only named here, so this
// header needs no other; to use a type, include its header.
#define TSR_OWNED_HANDLES(X)                         \
  X(array, release, tsr_array)                       \
  X(array_tree, release, const tsr_array_tree)       \
  X(axes, release, const tsr_axes)                   \
  X(axis_registry, destroy, tsr_axis_registry)       \
  X(buffer, release, tsr_buffer)                     \
  X(buffer_pool, release, tsr_buffer_pool)           \
  X(builder, destroy, tsr_builder)                   \
  X(checkpoint, release, const tsr_checkpoint)       \
  X(chunker, release, const tsr_chunker)             \
  X(comm, release, tsr_comm)                         \
  X(compiled, release, const tsr_compiled)           \
  X(copy_plan, release, const tsr_copy_plan)         \
  X(executable, release, const tsr_executable)       \
  X(fsck, destroy, tsr_fsck)                         \
  X(layout, release, const tsr_layout)               \
  X(load, destroy, tsr_load)                         \
  X(logical_rules, release, const tsr_logical_rules) \
  X(map, release, const tsr_map)                     \
  X(mapping, release, const tsr_mapping)             \
  X(mesh, release, const tsr_mesh)                   \
  X(partitioned, release, const tsr_partitioned)     \
  X(partitioner, release, const tsr_partitioner)     \
  X(placer, release, const tsr_placer)               \
  X(plan, release, const tsr_plan)                   \
  X(pool, destroy, tsr_pool)                         \
  X(preflight, release, const tsr_preflight)         \
  X(program, release, const tsr_program)             \
  X(propagation, destroy, tsr_propagation)           \
  X(rules, release, const tsr_rules)                 \
  X(save, destroy, tsr_save)                         \
  X(sequence, release, const tsr_sequence)           \
  X(sharding, release, const tsr_sharding)           \
  X(spec, release, const tsr_spec)                   \
  X(tiling, release, const tsr_tiling)               \
  X(topology, release, const tsr_topology)           \
  X(transform, destroy, tsr_transform)               \
  X(tree, release, const tsr_tree)                   \
  X(verification, destroy, tsr_verification)

// The structs that own memory, each with its tsr_..._deinit. All zero is empty. Initialise a sized
// struct before it is filled: `report = TSR_PLACE_REPORT`.
#define TSR_OWNED_VALUES(X) \
  X(analysis)               \
  X(changes)                \
  X(copies)                 \
  X(device_array)           \
  X(findings)               \
  X(groups)                 \
  X(logical_names)          \
  X(pieces)                 \
  X(place_report)           \
  X(text)

#define TSR_OWN(type, name) \
  __attribute__((cleanup(tsr_give_back_##type))) tsr_owned_##type name = {0}

// Each row makes the type of the variable and its cleanup function. These call functions of other
// headers by their names in the library, so that they are declared only there.
#define TSR_OWN_TEXT_OF_(name) #name
#define TSR_OWN_TEXT_(name) TSR_OWN_TEXT_OF_(name)
#define TSR_OWN_CALLED_(function) __asm__(TSR_OWN_TEXT_(__USER_LABEL_PREFIX__) #function)
#define TSR_OWN_HANDLE_(type, verb, taken)                                 \
  typedef struct tsr_##type tsr_##type;                                    \
  typedef tsr_##type *tsr_owned_##type;                                    \
  void tsr_end_##type(taken *handle) TSR_OWN_CALLED_(tsr_##type##_##verb); \
  static inline void tsr_give_back_##type(tsr_##type **variable) { tsr_end_##type(*variable); }
#define TSR_OWN_VALUE_(type)            \
  typedef struct tsr_##type tsr_##type; \
  typedef tsr_##type tsr_owned_##type;  \
  void tsr_give_back_##type(tsr_##type *value) TSR_OWN_CALLED_(tsr_##type##_deinit);
#pragma GCC visibility push(default)
TSR_OWNED_HANDLES(TSR_OWN_HANDLE_)
TSR_OWNED_VALUES(TSR_OWN_VALUE_)
#pragma GCC visibility pop
#undef TSR_OWN_TEXT_OF_
#undef TSR_OWN_TEXT_
#undef TSR_OWN_CALLED_
#undef TSR_OWN_HANDLE_
#undef TSR_OWN_VALUE_

#endif

#endif
