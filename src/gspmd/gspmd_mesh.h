// The shardings of a program in XLA's older form, and the one mesh that they all fit.
#ifndef TESSERA_GSPMD_GSPMD_MESH_H
#define TESSERA_GSPMD_GSPMD_MESH_H

#include "factor/shardings.h"
#include "tiling/tiling.h"

#define TSR_GSPMD_SHARDING "mhlo.sharding"

typedef struct tsr_gspmd_text {
  const tsr_attr *attr;  // a STRING
  tsr_tiling *tiling;
} tsr_gspmd_text;

typedef struct tsr_gspmd {
  tsr_ir *ir;
  tsr_arena arena;        // of shardings
  tsr_gspmd_text *texts;  // all different ones, sorted
  int64_t count, capacity;
  int64_t device_count;    // 0 = no sharding has tiles
  const int32_t *devices;  // the order of the mesh; NULL = 0, 1, 2, ...
  int32_t *places;         // the place of each device in that order; NULL as above
  int axis_count;
  int64_t sizes[TSR_MAX_DIGITS], strides[TSR_MAX_DIGITS];  // of axes, major first
  const tsr_attr *mesh;                                    // the SDY_MESH
} tsr_gspmd;

// Collects the shardings of a program and finds their mesh.
TSR_MUST_USE tsr_status tsr_gspmd_init(tsr_gspmd *gspmd, tsr_ir *ir);
void tsr_gspmd_deinit(tsr_gspmd *gspmd);
// The tiling of a text that was collected.
const tsr_tiling *tsr_gspmd_tiling(const tsr_gspmd *gspmd, const tsr_attr *text);
// The digits of a tiled sharding in the order of the mesh: dimension d has [first[d], first[d +
// 1]). False if they do not fall on borders between its dimensions.
TSR_MUST_USE tsr_status tsr_gspmd_digits(const tsr_gspmd *gspmd, const tsr_tiles *tiles,
                                         tsr_digits *out_digits, int *out_first, bool *out_fit);

// A sharding on the mesh. Axes are bits of `manual`, the major one first.
typedef struct tsr_gspmd_sharding {
  const tsr_attr *attr;  // the SDY_SHARDING, without manual axes
  uint32_t manual;
} tsr_gspmd_sharding;
// The sharding of a value of a rank: that of `text`, or its element `index` if it is a tuple. Dims
// of `open` (bits) may get more axes.
TSR_MUST_USE tsr_status tsr_gspmd_sharding_of(tsr_gspmd *gspmd, const tsr_attr *text, int index,
                                              int rank, uint64_t open,
                                              tsr_gspmd_sharding *out_sharding);

// ---- custom calls ----

// Whether an op is a custom call of a target.
bool tsr_gspmd_calls(const tsr_op *op, const char *target);
// The dims that a custom call leaves open: of "unspecified_dims=[0,1]" in its backend_config.
TSR_MUST_USE tsr_status tsr_gspmd_open_dims(const tsr_op *op, uint64_t *out_open);
// Calls between pairs become manual computations.
TSR_MUST_USE tsr_status tsr_gspmd_import_manual(tsr_gspmd *gspmd, int64_t *changes);

#endif
