// tessera/checkpoint.h for C++: models on disk opened, read, loaded, saved, transformed and
// compared.
//
//   auto parameters = tsr::load("llama", mesh, "mlp -> _, tp\n.* -> ()\n", comm);
//   tsr::save(parameters, "step-1000", comm);
//
// The conventions are those of tessera.hpp.
#ifndef TESSERA_CHECKPOINT_HPP
#define TESSERA_CHECKPOINT_HPP

#include <functional>

#include "tessera/checkpoint.h"
#include "tessera/tessera.hpp"

namespace tsr {

using checkpoint_options = options<tsr_checkpoint_options>;
using load_options = options<tsr_load_options>;
using save_options = options<tsr_save_options>;
using transform_options = options<tsr_transform_options>;
using verify_options = options<tsr_verify_options>;

// ---- progress ----

// Receives the progress of a long job. Returning false stops the job, which then fails with
// TSR_CAUSE_CANCELLED. Called in the thread that started the job.
using progress = std::function<bool(const tsr_progress_report &)>;

namespace detail {

// Passes a progress function to C options. It must not move while they are in use.
struct watcher {
  progress report;
  relay thrown;

  template <class Options>
  void watch(Options *options) {
    if (!report) return;
    options->progress = call;
    options->progress_context = this;
  }
  static bool call(void *context, const tsr_progress_report *report) noexcept {
    auto *self = static_cast<watcher *>(context);
    bool go_on = false;
    tsr_status_free(self->thrown.run([&] { go_on = self->report(*report); }));
    return go_on;
  }
};

// Makes a C call with options that report to a progress function.
template <class Options, class Call>
void watch(Options options, progress report, Call &&call) {
  watcher watching{std::move(report), {}};
  watching.watch(&options);
  watching.thrown.check(call(&options));
}

}  // namespace detail

// ---- maps ----

// How the tensors of one checkpoint are made from those of another (tessera/checkpoint/map.h): a
// `map` as written, and a `mapping`, a map applied to a model. Options of transforms and loads take
// mapping.get().
class mapping : public shared<tsr_mapping, tsr_mapping_retain, tsr_mapping_release> {
 public:
  using shared::shared;
  tsr::tree tree() const { return share<tsr::tree>(tsr_mapping_tree(get())); }
};
class map : public shared<tsr_map, tsr_map_retain, tsr_map_release> {
 public:
  using shared::shared;
  explicit map(const std::string &text, const std::string &name = "map") {
    check(tsr_map_parse(text.c_str(), name.c_str(), out()));
  }
  // A map that ships with the library: "llama-fuse".
  static map preset(const std::string &name) { return make<map>(tsr_map_preset, name.c_str()); }
  tsr::mapping apply(const tree &source, const options<tsr_map_options> &options = {}) const {
    return make<tsr::mapping>(tsr_map_apply, get(), source.get(), &options);
  }
};

// ---- checkpoints ----

// A model on disk in any format, seen as whole tensors (tessera/checkpoint/open.h).
class checkpoint : public shared<tsr_checkpoint, tsr_checkpoint_retain, tsr_checkpoint_release> {
 public:
  using shared::shared;
  explicit checkpoint(const std::string &path, const checkpoint_options &options = {}) {
    check(tsr_checkpoint_open(path.c_str(), &options, out()));
  }
  // Collective. Opens it on every rank, or on none.
  checkpoint(const comm &comm, const std::string &path, const checkpoint_options &options = {}) {
    check(tsr_checkpoint_open_all(comm.get(), path.c_str(), &options, out()));
  }
  tsr_checkpoint_format format() const { return tsr_checkpoint_format_of(get()); }
  tsr::tree tree() const { return share<tsr::tree>(tsr_checkpoint_tree(get())); }
  // How its tensors are cut; empty if they are whole.
  tsr::plan plan() const { return share<tsr::plan>(tsr_checkpoint_plan(get())); }
  std::string warnings() const { return detail::text_of(tsr_checkpoint_warnings(get())); }

  // A tensor, or a box of it: a range for each dimension. std::byte gets the bytes of any dtype.
  template <class T>
  std::vector<T> read(const std::string &tensor, const std::vector<tsr_range> &box = {}) const {
    const tsr::tree all = tree();
    const std::int64_t index = all.index(tensor);
    detail::check_element<T>(all[index].dtype);
    tsr::shape shape(tsr_tensor_shape(&all[index]));
    if (!box.empty() && box.size() != static_cast<std::size_t>(shape.rank))
      check(tsr_fail(BAD_ARGUMENT, "\"%s\" has %d dimensions, the box %zu", tensor.c_str(),
                     shape.rank, box.size()));
    for (std::size_t i = 0; i < box.size(); i++) {
      if (box[i].lo < 0 || box[i].hi < box[i].lo || box[i].hi > shape.dims[i])
        check(tsr_fail(INDEX_OUT_OF_RANGE,
                       "dimension %zu of \"%s\" has no range %lld to %lld: its "
                       "size is %lld",
                       i, tensor.c_str(), static_cast<long long>(box[i].lo),
                       static_cast<long long>(box[i].hi), static_cast<long long>(shape.dims[i])));
      shape.dims[i] = box[i].hi - box[i].lo;
    }
    const auto bytes = shape.bytes(all[index].dtype);
    std::vector<T> values(static_cast<std::size_t>(bytes) / sizeof(T));
    check(tsr_checkpoint_read(get(), index, box.empty() ? nullptr : box.data(), values.data(),
                              bytes));
    return values;
  }

  // Collective. The tensors as arrays, in the layouts of the plan.
  array_tree load(const tsr::plan &plan, const comm &comm, const load_options &options = {},
                  progress report = {}) const {
    array_tree made;
    detail::watch(options, std::move(report), [&](const tsr_load_options *watched) {
      return tsr_checkpoint_load(get(), plan.get(), comm.get(), watched, made.out());
    });
    return made;
  }
};

// Collective. Opens the checkpoint at a path and loads its tensors, sharded by rules as text:
//   auto parameters = tsr::load("llama", mesh, "mlp -> _, tp\n.* -> ()\n", comm);
inline array_tree load(const std::string &path, const mesh &mesh, const std::string &rules,
                       const comm &comm, const load_options &options = {}, progress report = {}) {
  array_tree made;
  detail::watch(options, std::move(report), [&](const tsr_load_options *watched) {
    return tsr_checkpoint_load_path(path.c_str(), mesh.get(), rules.c_str(), comm.get(), watched,
                                    made.out());
  });
  return made;
}

// Collective. Saves arrays and host tensors as a checkpoint, whole or not at all
// (tessera/checkpoint/save.h).
inline void save(const array_tree &tree, const std::string &path, const comm &comm,
                 const save_options &options = {}, progress report = {}) {
  detail::watch(options, std::move(report), [&](const tsr_save_options *watched) {
    return tsr_checkpoint_save(tree.get(), path.c_str(), comm.get(), watched);
  });
}

// Rewrites a checkpoint with another layout, format or dtype (tessera/checkpoint/transform.h).
// The constructor decides everything and writes nothing.
class transform : public owned<tsr_transform, tsr_transform_destroy> {
 public:
  transform() = default;
  transform(const checkpoint &source, const std::string &path,
            const transform_options &options = {}, progress report = {})
      : watcher_(new detail::watcher{std::move(report), {}}) {
    transform_options watched = options;
    watcher_->watch(&watched);
    watcher_->thrown.check(tsr_transform_create(source.get(), path.c_str(), &watched, out()));
  }
  transform(transform &&) noexcept = default;
  transform &operator=(transform &&) noexcept = default;
  ~transform() { reset(); }  // before the watcher is destroyed

  const tsr_transform_certificate &certificate() const {
    return *tsr_transform_certificate_of(get());
  }
  void run() { watcher_->thrown.check(tsr_transform_run(get())); }  // once
  const tsr_transform_report &report() const { return *tsr_transform_report_of(get()); }

 private:
  std::unique_ptr<detail::watcher> watcher_;
};

// Whether two checkpoints hold the same tensors, in any formats (tessera/checkpoint/verify.h).
class verification : public owned<tsr_verification, tsr_verification_destroy> {
 public:
  using owned::owned;
  verification(const checkpoint &first, const checkpoint &second,
               const verify_options &options = {}, progress report = {}) {
    detail::watch(options, std::move(report), [&](const tsr_verify_options *watched) {
      return tsr_checkpoint_verify(first.get(), second.get(), watched, out());
    });
  }
  bool equal() const { return tsr_verification_equal(get()); }
  std::int64_t size() const { return tsr_verification_count(get()); }
  const tsr_verify_row &operator[](std::int64_t row) const {
    detail::check_index("row", row, size());
    return *tsr_verification_at(get(), row);
  }
  // One line about a tensor that differs.
  std::string print(std::int64_t row) const {
    detail::check_index("row", row, size());
    return detail::text_of([&](tsr_text *text) { tsr_verification_print_row(get(), row, text); });
  }
};

}  // namespace tsr

#endif
