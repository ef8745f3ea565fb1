// tessera/engine.h for C++: bound specs, pieces of shards, buffers, many arrays at once.
//
//   const tsr::sharding cut(mesh, tsr::spec("data, model"));
//   const auto padded = cut.layout({6, 16}, TSR_POLICY_PAD);
//   for (const tsr_piece &piece : tsr::pieces(padded, padded.shard(0))) ...
//
// Only the most used types have a class. Call the other C functions directly, with get(),
// tsr::make, tsr::owned and tsr::check of tessera.hpp.
#ifndef TESSERA_ENGINE_HPP
#define TESSERA_ENGINE_HPP

#include "tessera/engine.h"
#include "tessera/tessera.hpp"

namespace tsr {

// A shared block of memory (tessera/engine/buffer.h):
//   auto block = tsr::make<tsr::buffer>(tsr_buffer_create, tsr_comm_buffers(comm.get()), bytes);
using buffer = shared<tsr_buffer, tsr_buffer_retain, tsr_buffer_release>;

// A spec bound to a mesh and checked (tessera/engine/sharding.h).
class sharding : public shared<tsr_sharding, tsr_sharding_retain, tsr_sharding_release> {
 public:
  using shared::shared;
  sharding(const tsr::mesh &mesh, const tsr::spec &spec) {
    check(tsr_sharding_bind(mesh.get(), spec.get(), false, out()));
  }
  // The sharding of a layout; empty unless the layout is a grid.
  static sharding of(const tsr::layout &layout) {
    return share<sharding>(tsr_layout_sharding(layout.get()));
  }
  tsr::mesh mesh() const { return share<tsr::mesh>(tsr_sharding_mesh(get())); }
  tsr::spec spec() const { return share<tsr::spec>(tsr_sharding_spec(get())); }
  // The layout of a tensor of this shape; the policy is for sizes that do not divide.
  tsr::layout layout(const tsr::shape &shape, tsr_policy policy = TSR_POLICY_ERROR) const {
    return make<tsr::layout>(tsr_layout_create, get(), &shape, policy);
  }
};

// The pieces of a shard and their offsets in its buffer (tessera/engine/layout.h).
inline std::vector<tsr_piece> pieces(const layout &layout, std::int64_t shard) {
  struct iterator {
    tsr_pieces pieces{};
    ~iterator() { tsr_pieces_deinit(&pieces); }
  } all;
  check(tsr_pieces_init(&all.pieces, layout.get(), shard));
  std::vector<tsr_piece> found;
  for (tsr_piece piece{}; tsr_pieces_next(&all.pieces, &piece);) found.push_back(piece);
  return found;
}

// Collective. Reshards many arrays of one comm at once, array i to layout i
// (tessera/engine/array.h).
inline std::vector<array> reshard_all(span<const array> arrays, span<const layout> layouts,
                                      const reshard_options &options = {}) {
  if (arrays.size() != layouts.size())
    check(tsr_fail(BAD_ARGUMENT, "%zu arrays, but %zu layouts", arrays.size(), layouts.size()));
  std::vector<tsr_array *> from, to(arrays.size());
  std::vector<const tsr_layout *> where;
  for (const array &one : arrays) from.push_back(one.get());
  for (const layout &one : layouts) where.push_back(one.get());
  std::vector<array> made(arrays.size());
  check(tsr_array_reshard_all(from.data(), where.data(), static_cast<std::int64_t>(from.size()),
                              &options, to.data()));
  for (std::size_t i = 0; i < to.size(); i++) made[i].reset(to[i]);
  return made;
}

}  // namespace tsr

#endif
