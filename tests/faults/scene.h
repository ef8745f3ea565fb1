// What the tests of faults play in: a source, a destination with or without something there before,
// a job from one to the other, and a look at what is there afterwards.
#ifndef TESSERA_TESTS_FAULTS_SCENE_H
#define TESSERA_TESTS_FAULTS_SCENE_H

#include "checkpoint/models.h"
#include "faults/inject.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"

typedef enum before { NOTHING, OLD_FILE, OLD_FOLDER } before;

typedef struct scene {
  test_folder folder;
  char in[96], out[96], partial[96], journal[96];
  tsr_plan *plan;
  tsr_mapping *map;
  tsr_transform_options options;
  before before;
  bool extras;         // go along
  bool archive;        // NumPy's is the source
  bool saves;          // arrays, which are loaded from the source first
  int64_t stop_after;  // bytes after which a job is cancelled
} scene;

// A file, a folder, files for ranks or one of ours are written (scenes 0 to 9 by twos or threes: to
// nothing, over a file, over a folder); then the same from other sources, and through a map; then
// NumPy's archives and arrays.
enum { SCENE_CASES = 25 };
void scene_make(scene *s, size_t index);
void scene_drop(const scene *s);
// The destination as it was before any job.
void scene_restore(const scene *s);
void scene_write_old(const char *path);
void scene_remove(const char *path);                 // with all that is in it
bool scene_is_single(tsr_checkpoint_format format);  // a result of it is one file
bool scene_is_there(const char *path);
int scene_count_entries(const char *path);

// The job: a transform, or a save.
tsr_status scene_transform(scene *s, tsr_existing existing);
// How a job is to be started when nothing of it is there.
tsr_existing scene_first_try(const scene *s);
// A job that was stopped after its first windows.
void scene_leave_unfinished(scene *s);
// Whether a job that is killed at its call `at` gets so far.
bool scene_is_killed(scene *s, tsr_existing existing, inject_kind fault, long at);

typedef enum found { FOUND_NOTHING, FOUND_OLD, FOUND_NEW } found;
// Fails unless it is wholly one of them.
found scene_look(const scene *s);
void scene_check_intact(const scene *s);  // it is old or new
// Names in the destination of a job that is done.
int scene_entries(scene *s);
// Resumes, or where nothing was begun starts again; then the result is there, of so many names, and
// nothing beside.
void scene_finish(scene *s, int entries);

#endif
