// Tessera for C++17 and later: the C library's handles as objects, its failures as exceptions.
//
//   tsr::comm comm(4);                                     // four devices in this process
//   tsr::mesh mesh("x=2,y=2");
//   auto rows = tsr::array::put(comm, {mesh, "x, _", {4, 6}}, values);  // a std::vector<float>
//   auto columns = rows.reshard("_, y");
//   std::vector<float> back = columns.gather<float>();
//
// - Everything is in namespace tsr. C++ programs link the same library as C programs. This header
//   covers tessera/tessera.h, tessera/checkpoint.hpp models on disk, and tessera/engine.hpp the
//   functions for engines.
// - A class holds one handle of the C library. get() returns it for any C function. Copying a
//   shared handle adds a reference; owned handles can only be moved. An object that was
//   default-constructed or moved from is empty: it may only be assigned, copied, tested and
//   destroyed.
// - A failure throws tsr::error with the cause, code and message of the C failure, or
//   std::bad_alloc if memory ran out. Objects then have the value they had before the call.
// - Callbacks may throw. The exception is held back while the C library returns, and then rethrown
//   to the caller.
// - Options are the C structs, with the size set and everything else zero, the default.
// - Element types, policies and other enumerations are the C library's: TSR_F32, TSR_POLICY_PAD.
//   The C function of the same name documents the details.
#ifndef TESSERA_TESSERA_HPP
#define TESSERA_TESSERA_HPP

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "tessera/tessera.h"

namespace tsr {

// ---- failure ----

// Owns a failure of the C library. Copies share it.
class TSR_API error : public std::exception {
 public:
  explicit error(tsr_status failure) : failure_(failure, tsr_status_free) {}
  const char *what() const noexcept override { return tsr_status_text(failure_.get()); }
  tsr_cause cause() const noexcept { return tsr_status_cause(failure_.get()); }
  tsr_code code() const noexcept { return tsr_status_code(failure_.get()); }

 private:
  std::shared_ptr<tsr_failure> failure_;
};

// Throws a failure as tsr::error; does nothing for NULL. For calls of C functions.
inline void check(tsr_status status) {
  if (status) throw error(status);
}

// ---- spans ----

#ifdef __cpp_lib_span
template <class T>
using span = std::span<T>;
#else
// A view of contiguous elements: the subset of C++20's std::span that this header needs in C++17.
template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  constexpr span() noexcept = default;
  constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class Range, class = std::enable_if_t<std::is_convertible_v<
                             decltype(std::data(std::declval<Range &>())), T *>>>
  constexpr span(Range &&range) : data_(std::data(range)), size_(std::size(range)) {}
  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }
  constexpr T &operator[](std::size_t index) const { return data_[index]; }

 private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

// ---- handles ----

// Sole owner of a handle, which it destroys with `Destroy`. Also for handles of the C library
// without a class here: tsr::owned<tsr_fsck, tsr_fsck_destroy>.
template <class T, auto Destroy>
class owned {
 public:
  using handle_type = T;
  owned() noexcept = default;
  explicit owned(T *taken) noexcept : handle_(taken) {}  // takes the handle over; NULL is fine
  owned(owned &&other) noexcept : handle_(other.release()) {}
  owned &operator=(owned &&other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~owned() { reset(); }

  T *get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  // Gives the handle to the caller; the object is empty afterwards.
  T *release() noexcept { return std::exchange(handle_, nullptr); }
  void reset(T *taken = nullptr) noexcept {
    if (T *old = std::exchange(handle_, taken)) Destroy(old);
  }
  // Where a C function writes a new handle: check(tsr_mesh_create(&desc, mesh.out())).
  T **out() noexcept {
    reset();
    return &handle_;
  }

 private:
  T *handle_ = nullptr;
};

// Holds a reference to a shared handle: copying retains it, the destructor releases it.
template <class T, auto Retain, auto Release>
class shared : public owned<T, Release> {
 public:
  using owned<T, Release>::owned;
  shared() noexcept = default;
  shared(const shared &other) noexcept : owned<T, Release>(retained(other.get())) {}
  shared(shared &&) noexcept = default;
  shared &operator=(const shared &other) noexcept {
    if (this != &other) this->reset(retained(other.get()));
    return *this;
  }
  shared &operator=(shared &&) noexcept = default;
  ~shared() = default;

  // Retains a borrowed handle; NULL stays NULL.
  static T *retained(const T *lent) noexcept {
    return lent ? Retain(const_cast<T *>(lent)) : nullptr;
  }
};

// An object that retains a handle borrowed from the C library:
//   auto mesh = tsr::share<tsr::mesh>(tsr_layout_mesh(layout));
template <class Class>
Class share(const typename Class::handle_type *lent) {
  return Class(Class::retained(lent));
}

// The object that a C function makes; the function writes the handle to its last argument:
//   auto plan = tsr::make<tsr::plan>(tsr_plan_auto, tree.get(), mesh.get(), &options);
template <class Class, class Function, class... Arguments>
Class make(Function function, Arguments... arguments) {
  Class made;
  check(function(arguments..., made.out()));
  return made;
}

// ---- options ----

namespace detail {

template <class T, class = void>
struct is_sized : std::false_type {};
template <class T>
struct is_sized<T, std::enable_if_t<std::is_same_v<decltype(T::size), std::size_t>>>
    : std::true_type {};

// A C struct of zeros for the library to read or fill, with `size` set if it has that field.
template <class T>
T blank() {
  T value{};
  if constexpr (is_sized<T>::value) value.size = sizeof(T);
  return value;
}

}  // namespace detail

// A C options struct with its size set and everything else zero, the default.
//   tsr::reshard_options options;
//   options.donate = true;
template <class T>
struct options : T {
  static_assert(detail::is_sized<T>::value,
                "options structs of the C library open with their size");
  options() : T(detail::blank<T>()) {}
};

using auto_options = options<tsr_auto_options>;
using buffer_pool_options = options<tsr_buffer_pool_options>;
using comm_options = options<tsr_comm_options>;
using fit_options = options<tsr_fit_options>;
using host_options = options<tsr_host_options>;
using match_options = options<tsr_match_options>;
using reshard_options = options<tsr_reshard_options>;
using rules_options = options<tsr_rules_options>;

// ---- callbacks ----

namespace detail {

// Holds an exception of a callback until the C call returns, since C frames must not be unwound.
// Callbacks may run in several threads; the first exception counts.
class relay {
 public:
  template <class Body>
  tsr_status run(Body &&body) noexcept {
    try {
      body();
      return nullptr;
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
    }
    return tsr_fail(CANCELLED, "a callback threw an exception");
  }
  // After the C call: rethrows the exception of a callback, or throws the call's own failure.
  void check(tsr_status status) {
    if (!thrown_) return tsr::check(status);
    tsr_status_free(status);
    std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

// ---- texts ----

// The text that a printer of the C library writes.
template <class Print>
std::string text_of(Print &&print) {
  struct writer {
    tsr_text text = TSR_TEXT_EMPTY;
    ~writer() { tsr_text_deinit(&text); }
  } out;
  print(&out.text);
  if (out.text.failed) throw std::bad_alloc();
  return out.text.data ? std::string(out.text.data, out.text.length) : std::string();
}

// A copy of a text borrowed from the C library; NULL is "".
inline std::string text_of(const char *lent) { return lent ? lent : ""; }

// Throws for an index outside 0 to count - 1; accessors of the C library return NULL for it.
inline void check_index(const char *what, std::int64_t index, std::int64_t count) {
  if (index >= 0 && index < count) return;
  check(tsr_fail(INDEX_OUT_OF_RANGE, "%s %lld is not in 0 to %lld", what,
                 static_cast<long long>(index), static_cast<long long>(count - 1)));
}

}  // namespace detail

// ---- element types and shapes ----

// The dtype of a C++ type: element<float>::dtype is TSR_F32. Specialise it for your own types, such
// as 16-bit floats. std::byte stands for the bytes of any type.
template <class T>
struct element {
  static_assert(std::is_integral_v<T>, "not an element type; specialise tsr::element for it");
  static constexpr tsr_dtype dtype = sizeof(T) == 1   ? (std::is_signed_v<T> ? TSR_I8 : TSR_U8)
                                     : sizeof(T) == 2 ? (std::is_signed_v<T> ? TSR_I16 : TSR_U16)
                                     : sizeof(T) == 4 ? (std::is_signed_v<T> ? TSR_I32 : TSR_U32)
                                                      : (std::is_signed_v<T> ? TSR_I64 : TSR_U64);
};
// clang-format off
template <> struct element<bool> { static constexpr tsr_dtype dtype = TSR_BOOL; };
template <> struct element<float> { static constexpr tsr_dtype dtype = TSR_F32; };
template <> struct element<double> { static constexpr tsr_dtype dtype = TSR_F64; };
template <> struct element<std::complex<float>> { static constexpr tsr_dtype dtype = TSR_C64; };
template <> struct element<std::complex<double>> { static constexpr tsr_dtype dtype = TSR_C128; };
template <> struct element<std::byte> { static constexpr tsr_dtype dtype = TSR_DTYPE_NONE; };
// clang-format on

// Sizes of a tensor's dimensions, outermost first: tsr::shape{8, 16}; tsr::shape{} is a scalar.
struct shape : tsr_shape {
  shape() : tsr_shape{} {}
  shape(const tsr_shape &other) : tsr_shape(other) {}
  shape(std::initializer_list<std::int64_t> sizes) : shape(sizes.begin(), sizes.size()) {}
  explicit shape(span<const std::int64_t> sizes) : shape(sizes.data(), sizes.size()) {}
  // "8,16", "8x16", "(8, 16)"
  static shape parse(const std::string &text) {
    shape parsed;
    check(tsr_shape_parse(text.c_str(), &parsed));
    return parsed;
  }
  std::string print() const {
    return detail::text_of([&](tsr_text *out) { tsr_shape_print(this, out); });
  }
  const std::int64_t *begin() const noexcept { return dims; }
  const std::int64_t *end() const noexcept { return dims + rank; }
  std::int64_t elements() const {
    std::int64_t count = 0;
    check(tsr_shape_count(this, &count));
    return count;
  }
  std::int64_t bytes(tsr_dtype dtype) const {
    std::int64_t count = 0;
    check(tsr_shape_bytes(this, dtype, &count));
    return count;
  }
  friend bool operator==(const shape &a, const shape &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator!=(const shape &a, const shape &b) { return !(a == b); }

 private:
  shape(const std::int64_t *sizes, std::size_t count) : tsr_shape{} {
    const std::size_t most = TSR_MAX_RANK;
    rank = static_cast<int>(count <= most ? count : most + 1);  // which elements() rejects
    if (count <= most) std::copy_n(sizes, count, dims);
    static_cast<void>(elements());  // throws for negative sizes and overflow
  }
};

namespace detail {

// Throws unless T is the type of dtype `found`; std::byte is accepted for any.
template <class T>
void check_element(tsr_dtype found) {
  constexpr tsr_dtype wanted = element<T>::dtype;
  if (wanted == TSR_DTYPE_NONE || wanted == found) return;
  const char *name = tsr_dtype_name(found, TSR_NAMES_OWN);
  check(tsr_fail(BAD_ARGUMENT, "elements are %s, but %s is asked for", name ? name : "none",
                 tsr_dtype_name(wanted, TSR_NAMES_OWN)));
}

// Throws unless the memory has exactly the expected size.
inline void check_bytes(std::size_t found, std::int64_t wanted) {
  if (found == static_cast<std::size_t>(wanted)) return;
  check(tsr_fail(BAD_ARGUMENT, "the caller's memory has %zu bytes, the tensor %lld", found,
                 static_cast<long long>(wanted)));
}

template <class Range>
using element_of =
    std::remove_cv_t<std::remove_reference_t<decltype(*std::data(std::declval<Range &>()))>>;

}  // namespace detail

// ---- topology and mesh ----

// The hardware: devices and links (tessera/topology.h).
class topology : public shared<tsr_topology, tsr_topology_retain, tsr_topology_release> {
 public:
  using shared::shared;
  // A synthetic machine: "gpu:4x8:h100", "tpu-v4:4x4x4".
  explicit topology(const std::string &text) { check(tsr_topology_parse(text.c_str(), out())); }
  // The machine this process runs on.
  static topology detect() { return make<topology>(tsr_topology_detect); }
  std::int64_t device_count() const { return tsr_topology_device_count(get()); }
};

// Devices arranged on named axes (tessera/mesh.h).
class mesh : public shared<tsr_mesh, tsr_mesh_retain, tsr_mesh_release> {
 public:
  using shared::shared;
  // "data=4,model=2". With a topology, over its devices; one size may be -1 then.
  explicit mesh(const std::string &text, const tsr::topology &topology = tsr::topology()) {
    check(tsr_mesh_parse(text.c_str(), topology.get(), out()));
  }
  std::int64_t device_count() const { return tsr_mesh_device_count(get()); }
  std::int64_t device(std::int64_t position) const { return tsr_mesh_device_at(get(), position); }
  int axis_count() const { return tsr_mesh_axis_count(get()); }
  const tsr_axis &axis(int index) const {
    detail::check_index("axis", index, axis_count());
    return *tsr_mesh_axis_at(get(), index);
  }
  int find_axis(const std::string &name) const { return tsr_mesh_axis_find(get(), name.c_str()); }
  std::string print() const {
    return detail::text_of([&](tsr_text *text) { tsr_mesh_print(get(), text); });
  }
  friend bool operator==(const mesh &a, const mesh &b) { return tsr_mesh_equal(a.get(), b.get()); }
  friend bool operator!=(const mesh &a, const mesh &b) { return !(a == b); }
};

// ---- spec, layout ----

// What users write about how a tensor is laid out (tessera/spec.h).
class spec : public shared<tsr_spec, tsr_spec_retain, tsr_spec_release> {
 public:
  using shared::shared;
  // "data, _, fsdp+tp", "P('data', None, ('fsdp', 'tp'))", or Shardy's form.
  explicit spec(const std::string &text, tsr_spec_form form = TSR_FORM_ANY) {
    check(tsr_spec_parse(text.c_str(), form, out()));
  }
  std::string print(tsr_spec_form form = TSR_FORM_ANY) const {
    return detail::text_of([&](tsr_text *text) { check(tsr_spec_print(get(), form, text)); });
  }
  friend bool operator==(const spec &a, const spec &b) { return tsr_spec_equal(a.get(), b.get()); }
  friend bool operator!=(const spec &a, const spec &b) { return !(a == b); }
};

// Which piece of a tensor each device holds (tessera/layout.h).
class layout : public shared<tsr_layout, tsr_layout_retain, tsr_layout_release> {
 public:
  using shared::shared;
  // layout(mesh, "data, model", {8, 16}); throws if the shards do not divide a size. For other
  // policies: tsr::sharding of tessera/engine.hpp.
  layout(const tsr::mesh &mesh, const std::string &spec, const tsr::shape &shape) {
    check(tsr_layout_from_text(mesh.get(), spec.c_str(), &shape, out()));
  }

  tsr::shape shape() const { return tsr_layout_shape(get()); }
  tsr::mesh mesh() const { return share<tsr::mesh>(tsr_layout_mesh(get())); }
  std::int64_t device_count() const { return tsr_layout_device_count(get()); }
  std::int64_t shard_count() const { return tsr_layout_shard_count(get()); }
  std::int64_t device(std::int64_t position) const { return tsr_layout_device_at(get(), position); }
  std::int64_t shard(std::int64_t position) const { return tsr_layout_shard(get(), position); }
  std::int64_t replica_id(std::int64_t position) const {
    return tsr_layout_replica_id(get(), position);
  }
  // The one range per dimension that a shard holds.
  std::vector<tsr_range> box(std::int64_t shard) const {
    std::vector<tsr_range> ranges(static_cast<std::size_t>(shape().rank));
    check(tsr_layout_box(get(), shard, ranges.data()));
    return ranges;
  }
  bool equivalent(const layout &other) const {
    bool same = false;
    check(tsr_layout_equivalent(get(), other.get(), &same));
    return same;
  }
};

// ---- logical names ----

// The entry of one dimension: a name, tsr::none, tsr::unconstrained, or tsr::group{"a", "b"}.
struct none_type {};
struct unconstrained_type {};
inline constexpr none_type none{};
inline constexpr unconstrained_type unconstrained{};
struct group {
  group(std::initializer_list<std::string> names_) : names(names_) {}
  std::vector<std::string> names;
};
struct logical_entry {
  logical_entry(const char *name) : kind(TSR_ENTRY_NAME), names{name} {}
  logical_entry(std::string name) : kind(TSR_ENTRY_NAME), names{std::move(name)} {}
  logical_entry(none_type) : kind(TSR_ENTRY_NONE) {}
  logical_entry(unconstrained_type) : kind(TSR_ENTRY_UNCONSTRAINED) {}
  logical_entry(group members) : kind(TSR_ENTRY_GROUP), names(std::move(members.names)) {}
  tsr_entry_kind kind;
  std::vector<std::string> names;
};

// The names of a tensor's dimensions (tessera/logical.h): {"batch", tsr::none, "embed"}.
// Immutable; copies share them.
class logical_names {
 public:
  logical_names() = default;
  logical_names(std::initializer_list<logical_entry> entries)
      : logical_names(std::vector<logical_entry>(entries)) {}
  explicit logical_names(std::vector<logical_entry> entries)
      : held_(std::make_shared<const held>(std::move(entries))) {}
  // "batch, _, embed"
  static logical_names parse(const std::string &text) {
    auto parsed = std::make_shared<held>();
    check(tsr_logical_names_parse(text.c_str(), &parsed->names));
    logical_names made;
    made.held_ = std::move(parsed);
    return made;
  }
  // Valid as long as this object or a copy of it.
  const tsr_logical_names *get() const noexcept { return held_ ? &held_->names : &nothing; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(get()->count); }

 private:
  // Parsed names own their memory; others borrow the entries here.
  struct held {
    std::vector<logical_entry> entries;
    std::vector<std::vector<const char *>> texts;
    std::vector<tsr_logical_entry> items;
    tsr_logical_names names{};
    held() = default;
    explicit held(std::vector<logical_entry> given) : entries(std::move(given)) {
      for (const logical_entry &entry : entries) {
        std::vector<const char *> &all = texts.emplace_back();
        for (const std::string &name : entry.names) all.push_back(name.c_str());
        items.push_back({entry.kind, static_cast<int>(all.size()), all.data()});
      }
      names = {static_cast<int>(items.size()), items.data(), nullptr};
    }
    held(const held &) = delete;
    held &operator=(const held &) = delete;
    ~held() { tsr_logical_names_deinit(&names); }
  };
  static constexpr tsr_logical_names nothing{};
  std::shared_ptr<const held> held_;
};

// Ordered rules from logical names to mesh axes (tessera/logical.h).
class logical_rules : public owned<tsr_logical_rules, tsr_logical_rules_release> {
 public:
  using owned::owned;
  // One rule a line, "batch -> data"; `name` stands in messages.
  explicit logical_rules(const std::string &text, const std::string &name = "rules") {
    check(tsr_logical_rules_parse(text.c_str(), name.c_str(), out()));
  }
  static logical_rules read(const std::string &path) {
    return make<logical_rules>(tsr_logical_rules_read, path.c_str());
  }
  // logical_to_mesh_axes: the spec that a tensor with these names gets.
  tsr::spec to_spec(const logical_names &names) const {
    tsr::spec made;
    check(tsr_logical_to_mesh_axes(names.get(), get(), made.out(), nullptr));
    return made;
  }
};

// ---- trees, rules, plans ----

// One named tensor, for tsr::tree.
struct tensor {
  std::string path;
  tsr_dtype dtype;
  tsr::shape shape;
  std::vector<std::string> logical = {};  // a name per dimension, "" = none; or none at all
};

// The named tensors of a model, without their data (tessera/tree.h).
class tree : public shared<tsr_tree, tsr_tree_retain, tsr_tree_release> {
 public:
  using shared::shared;
  tree(std::initializer_list<tensor> tensors) : tree(tensors.begin(), tensors.size()) {}
  explicit tree(const std::vector<tensor> &tensors) : tree(tensors.data(), tensors.size()) {}
  // A safetensors file, a Hugging Face folder, or a JSON file; reads headers only.
  static tree open(const std::string &path) { return make<tree>(tsr_tree_open, path.c_str()); }
  std::int64_t size() const { return tsr_tree_count(get()); }
  const tsr_tensor &operator[](std::int64_t index) const {
    detail::check_index("tensor", index, size());
    return *tsr_tree_at(get(), index);
  }
  // The index of a tensor by its path: find returns -1 if there is none, index throws.
  std::int64_t find(const std::string &path) const { return tsr_tree_find(get(), path.c_str()); }
  std::int64_t index(const std::string &path) const {
    const std::int64_t found = find(path);
    if (found >= 0) return found;
    check(tsr_fail(NOT_FOUND, "no tensor \"%s\" among %lld", path.c_str(),
                   static_cast<long long>(size())));
    return found;
  }
  std::int64_t bytes() const { return tsr_tree_bytes(get()); }

 private:
  tree(const tensor *tensors, std::size_t count) {
    std::vector<std::vector<const char *>> names(count);
    std::vector<tsr_tensor> items(count);
    for (std::size_t i = 0; i < count; i++) {
      const tensor &from = tensors[i];
      if (!from.logical.empty() && from.logical.size() != static_cast<std::size_t>(from.shape.rank))
        check(tsr_fail(BAD_ARGUMENT, "\"%s\" has %d dimensions, but %zu logical names",
                       from.path.c_str(), from.shape.rank, from.logical.size()));
      for (const std::string &name : from.logical) names[i].push_back(name.c_str());
      items[i].path = from.path.c_str();
      items[i].dtype = from.dtype;
      items[i].rank = from.shape.rank;
      items[i].dims = from.shape.dims;
      items[i].logical = names[i].empty() ? nullptr : names[i].data();
    }
    check(tsr_tree_create(items.data(), static_cast<std::int64_t>(count), out()));
  }
};

// Ordered patterns that give tensors their specs by name (tessera/rules.h).
class rules : public shared<tsr_rules, tsr_rules_retain, tsr_rules_release> {
 public:
  using shared::shared;
  // One rule a line, "q_proj -> tp, fsdp"; `name` stands in messages.
  explicit rules(const std::string &text, const std::string &name = "rules",
                 const rules_options &options = {}) {
    check(tsr_rules_parse(text.c_str(), name.c_str(), &options, out()));
  }
  static rules read(const std::string &path, const rules_options &options = {}) {
    return make<rules>(tsr_rules_read, path.c_str(), &options);
  }
  // Rules that ship with the library: "llama:fsdp+tp".
  static rules preset(const std::string &name, const rules_options &options = {}) {
    return make<rules>(tsr_rules_preset, name.c_str(), &options);
  }
  std::int64_t size() const { return tsr_rules_count(get()); }
  std::string print() const {
    return detail::text_of([&](tsr_text *text) { tsr_rules_print(get(), text); });
  }
};

// A spec for every tensor of a model on a mesh, each with its reason (tessera/plan.h).
class plan : public shared<tsr_plan, tsr_plan_retain, tsr_plan_release> {
 public:
  using shared::shared;
  static plan match(const tsr::tree &tree, const tsr::mesh &mesh, const tsr::rules &rules,
                    const match_options &options = {}) {
    return make<plan>(tsr_plan_match, tree.get(), mesh.get(), rules.get(), &options);
  }
  // By the tensors' shapes alone.
  static plan automatic(const tsr::tree &tree, const tsr::mesh &mesh,
                        const auto_options &options = {}) {
    return make<plan>(tsr_plan_auto, tree.get(), mesh.get(), &options);
  }
  // The cheapest plan that fits the memory limit of the options.
  static plan fit(const tsr::tree &tree, const tsr::mesh &mesh, const fit_options &options) {
    plan made;
    check(tsr_plan_fit(tree.get(), mesh.get(), &options, made.out(), nullptr));
    return made;
  }
  // By the tensors' logical names.
  static plan logical(const tsr::tree &tree, const tsr::mesh &mesh,
                      const tsr::logical_rules &rules) {
    return make<plan>(tsr_plan_logical, tree.get(), mesh.get(), rules.get());
  }
  // Rules as text, or a preset ("" = by the model's config.json), for the model at a path.
  static plan from_text(const std::string &model_path, const tsr::mesh &mesh,
                        const std::string &rules) {
    return make<plan>(tsr_plan_from_text, model_path.c_str(), mesh.get(), rules.c_str());
  }
  static plan from_preset(const std::string &model_path, const tsr::mesh &mesh,
                          const std::string &preset = "") {
    return make<plan>(tsr_plan_from_preset, model_path.c_str(), mesh.get(),
                      preset.empty() ? nullptr : preset.c_str());
  }
  static plan open(const std::string &path) { return make<plan>(tsr_plan_open, path.c_str()); }
  tsr::tree tree() const { return share<tsr::tree>(tsr_plan_tree(get())); }
  tsr::mesh mesh() const { return share<tsr::mesh>(tsr_plan_mesh(get())); }
  std::int64_t size() const { return tsr_plan_count(get()); }
  // The spec of a tensor by its path; empty if there is none.
  tsr::spec find_spec(const std::string &path) const {
    return share<tsr::spec>(tsr_plan_find_spec(get(), path.c_str()));
  }
  tsr::layout layout(std::int64_t index) const {
    return make<tsr::layout>(tsr_plan_layout, get(), index);
  }
  tsr::layout layout(const std::string &path) const { return layout(index(path)); }
  // Why a tensor has its spec.
  std::string explain(std::int64_t index) const {
    return detail::text_of([&](tsr_text *text) { check(tsr_plan_explain(get(), index, text)); });
  }
  std::string explain(const std::string &path) const { return explain(index(path)); }
  std::int64_t bytes_per_device() const { return tsr_plan_bytes_per_device(get()); }

 private:
  // The index of a tensor by its path; throws if there is none, naming the nearest path.
  std::int64_t index(const std::string &path) const {
    auto row = detail::blank<tsr_plan_row>();
    check(tsr_plan_find(get(), path.c_str(), &row));
    return tsr_tree_find(tsr_plan_tree(get()), path.c_str());
  }
};

// ---- devices and arrays ----

// Memory for arrays (tessera/buffer.h): one pool for several comms, or with the caller's allocator.
// Set comm_options.buffers to its get(); the comm retains it.
class buffer_pool : public owned<tsr_buffer_pool, tsr_buffer_pool_release> {
 public:
  using owned::owned;
  explicit buffer_pool(const buffer_pool_options &options) {
    check(tsr_buffer_pool_create(&options, out()));
  }
};

// Moving and reducing bytes between devices (tessera/comm.h). One thread at a time makes collective
// calls.
class comm : public shared<tsr_comm, tsr_comm_retain, tsr_comm_release> {
 public:
  using shared::shared;
  // All devices are in this process.
  explicit comm(std::int64_t device_count, const comm_options &options = {}) {
    check(tsr_comm_create(device_count, &options, out()));
  }
  // A comm of the engine "threads" or "mpi"; 0 devices = one per rank.
  explicit comm(const std::string &engine, std::int64_t device_count = 0,
                const comm_options &options = {}) {
    check(tsr_comm_open(engine.c_str(), device_count, &options, out()));
  }
  std::int64_t device_count() const { return tsr_comm_device_count(get()); }
  int rank() const { return tsr_comm_rank(get()); }
  int rank_count() const { return tsr_comm_rank_count(get()); }
};

// A tensor sharded over devices (tessera/array.h). Copies refer to the same array.
class array : public shared<tsr_array, tsr_array_retain, tsr_array_release> {
 public:
  using shared::shared;

  // Cuts a whole tensor: a vector, array or span of its elements, row-major.
  template <class Range>
  static array put(const tsr::comm &comm, const tsr::layout &layout, const Range &values) {
    using T = detail::element_of<const Range>;
    static_assert(!std::is_same_v<T, std::byte>,
                  "say the type of bytes: put(comm, layout, TSR_BF16, bytes)");
    return put(comm, layout, element<T>::dtype, bytes_of(std::data(values), std::size(values)));
  }
  // The same with elements of any type, as bytes.
  static array put(const tsr::comm &comm, const tsr::layout &layout, tsr_dtype dtype,
                   span<const std::byte> values) {
    detail::check_bytes(values.size(), layout.shape().bytes(dtype));
    return make<array>(tsr_array_shard, comm.get(), layout.get(), dtype, values.data(), nullptr);
  }
  // Uses shards that are contiguous in `values` in place and copies the others. `keep` owns the
  // memory, which must not change; it is destroyed when no array uses the memory any more.
  template <class T>
  static array borrow(const tsr::comm &comm, const tsr::layout &layout, span<const T> values,
                      std::shared_ptr<const void> keep) {
    detail::check_bytes(values.size() * sizeof(T), layout.shape().bytes(element<T>::dtype));
    auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(keep));
    host_options options;
    options.borrow = true;
    options.release = [](void *context, void *) {
      delete static_cast<std::shared_ptr<const void> *>(context);
    };
    options.release_context = kept.get();
    array made;
    check(tsr_array_shard(comm.get(), layout.get(), element<T>::dtype, values.data(), &options,
                          made.out()));
    static_cast<void>(kept.release());  // the array has it now
    return made;
  }
  static array zeros(const tsr::comm &comm, const tsr::layout &layout, tsr_dtype dtype) {
    return make<array>(tsr_array_zeros, comm.get(), layout.get(), dtype);
  }
  // fill(const tsr_local_shard &shard, tsr::span<T> elements) is called once for each distinct
  // local shard, by several workers of the comm at a time.
  template <class T, class Fill>
  static array generate(const tsr::comm &comm, const tsr::layout &layout, Fill &&fill) {
    call_with_parts<T, Fill> context{fill, {}};
    array made;
    context.thrown.check(tsr_array_generate(comm.get(), layout.get(), element<T>::dtype,
                                            call_with_parts<T, Fill>::call, &context, made.out()));
    return made;
  }

  tsr_dtype dtype() const { return tsr_array_dtype(get()); }
  tsr::shape shape() const { return tsr_array_shape(get()); }
  tsr::layout layout() const { return share<tsr::layout>(tsr_array_layout(get())); }
  std::string print() const {
    return detail::text_of([&](tsr_text *text) { tsr_array_print(get(), text); });
  }

  // The shards of the local devices, in order of device number.
  std::int64_t local_count() const { return tsr_array_local_count(get()); }
  tsr_local_shard local(std::int64_t index) const {
    auto found = detail::blank<tsr_local_shard>();
    check(tsr_array_local_at(get(), index, &found));
    return found;
  }
  // The buffer of a local shard, padding included; std::byte is accepted for any dtype.
  template <class T>
  span<const T> data(std::int64_t index) const {
    const tsr_local_shard found = local(index);
    detail::check_element<T>(dtype());
    return {static_cast<const T *>(found.data), count_of<T>(found)};
  }
  // The same for writing; a buffer that another array or device shares is copied first.
  template <class T>
  span<T> write(std::int64_t index) {
    const tsr_local_shard found = local(index);
    detail::check_element<T>(dtype());
    void *data = nullptr;
    check(tsr_array_write(get(), index, &data));
    return {static_cast<T *>(data), count_of<T>(found)};
  }

  // fill(const tsr_local_shard &shard, tsr::span<T> elements) changes the present values of each
  // distinct local shard, called as in `generate`. Replicas share the result.
  template <class T, class Fill>
  void write_all(Fill &&fill) {
    detail::check_element<T>(dtype());
    call_with_parts<T, Fill> context{fill, {}};
    context.thrown.check(tsr_array_write_all(get(), call_with_parts<T, Fill>::call, &context));
  }

  // Collective. The same tensor in another layout, or by another spec on the same mesh.
  array reshard(const tsr::layout &to, const reshard_options &options = {}) const {
    return make<array>(tsr_array_reshard, get(), to.get(), &options);
  }
  array reshard(const std::string &spec) const {
    return make<array>(tsr_array_reshard_to, get(), spec.c_str());
  }
  // Collective. Into the buffers of an existing array, in its layout.
  void reshard_into(array &target, const reshard_options &options = {}) const {
    check(tsr_array_reshard_into(get(), target.get(), &options));
  }

  // Collective. The whole tensor in host memory, on all ranks; std::byte gets the bytes of any
  // dtype.
  template <class T>
  std::vector<T> gather() const {
    std::vector<T> whole(whole_count<T>());
    gather_to(span<T>(whole));
    return whole;
  }
  template <class T>
  void gather_to(span<T> whole) const {
    detail::check_element<T>(dtype());
    gather_bytes(whole.data(), whole.size() * sizeof(T), nullptr);
  }
  // Collective. On rank `root` of the array's comm only; others get an empty vector.
  template <class T>
  std::vector<T> gather_on(const tsr::comm &comm, int root) const {
    const bool mine = comm.rank() == root;
    std::vector<T> whole(mine ? whole_count<T>() : 0);
    detail::check_element<T>(dtype());
    host_options options;
    options.to_root = true;
    options.root = root;
    gather_bytes(whole.data(), whole.size() * sizeof(T), &options);
    return whole;
  }

 private:
  template <class T>
  static span<const std::byte> bytes_of(const T *data, std::size_t count) {
    return {reinterpret_cast<const std::byte *>(data), count * sizeof(T)};
  }
  template <class T>
  static std::size_t count_of(const tsr_local_shard &shard) {
    return static_cast<std::size_t>(shard.bytes) / sizeof(T);
  }
  template <class T>
  std::size_t whole_count() const {
    detail::check_element<T>(dtype());
    return static_cast<std::size_t>(shape().bytes(dtype())) / sizeof(T);
  }
  void gather_bytes(void *host, std::size_t bytes, const tsr_host_options *options) const {
    check(tsr_array_gather(get(), host, static_cast<std::int64_t>(bytes), options));
  }

  template <class T, class Fill>
  struct call_with_parts {
    Fill &fill;
    detail::relay thrown;
    static tsr_status call(void *context, const tsr_local_shard *shard, void *data) noexcept {
      auto *self = static_cast<call_with_parts *>(context);
      return self->thrown.run(
          [&] { self->fill(*shard, span<T>(static_cast<T *>(data), count_of<T>(*shard))); });
    }
  };
};

// ---- trees of arrays ----

// A named array, {"w", weights}, or a named tensor in host memory, {"step", {}, step}, for
// tsr::array_tree. The elements of a host tensor must outlive the tree.
struct leaf {
  leaf(std::string path_, array array_) : path(std::move(path_)), on_devices(std::move(array_)) {}
  template <class Range>
  leaf(std::string path_, const tsr::shape &shape_, const Range &values)
      : path(std::move(path_)),
        dtype(element<detail::element_of<const Range>>::dtype),
        shape(shape_),
        data(std::data(values)) {
    detail::check_bytes(std::size(values) * sizeof *std::data(values), shape.bytes(dtype));
  }
  std::string path;
  array on_devices;  // empty for a tensor in host memory
  tsr_dtype dtype = TSR_DTYPE_NONE;
  tsr::shape shape;
  const void *data = nullptr;
};

// Named arrays and host tensors in a fixed order (tessera/place.h).
class array_tree : public shared<tsr_array_tree, tsr_array_tree_retain, tsr_array_tree_release> {
 public:
  using shared::shared;
  array_tree(std::initializer_list<leaf> leaves) : array_tree(leaves.begin(), leaves.size()) {}
  explicit array_tree(const std::vector<leaf> &leaves) : array_tree(leaves.data(), leaves.size()) {}
  std::int64_t size() const { return tsr_array_tree_count(get()); }
  const tsr_leaf &operator[](std::int64_t index) const {
    detail::check_index("leaf", index, size());
    return *tsr_array_tree_at(get(), index);
  }
  const tsr_leaf &operator[](const std::string &path) const {
    const tsr_leaf *found = tsr_array_tree_find(get(), path.c_str());
    if (!found) check(tsr_fail(NOT_FOUND, "no leaf \"%s\"", path.c_str()));
    return *found;
  }
  // The array of a path; throws if there is none, naming the nearest path.
  tsr::array array(const std::string &path) const {
    tsr_array *lent = nullptr;
    check(tsr_array_tree_get(get(), path.c_str(), &lent));
    return share<tsr::array>(lent);
  }
  // A line for each leaf.
  std::string print() const {
    return detail::text_of([&](tsr_text *text) { tsr_array_tree_print(get(), text); });
  }
  // Collective. Every leaf as an array, sharded by rules as text.
  array_tree put(const comm &comm, const mesh &mesh, const std::string &rules) const {
    return make<array_tree>(tsr_array_tree_put, comm.get(), mesh.get(), rules.c_str(), get());
  }
  // Collective. Arrays become tensors in host memory, owned by the new tree, on all ranks or on
  // `root` only.
  array_tree gather(int root = -1) const {
    return make<array_tree>(tsr_array_tree_gather, get(), root);
  }
  // Paths, dtypes and shapes, for rules and plans.
  tree shapes() const { return make<tree>(tsr_array_tree_shapes, get()); }

 private:
  array_tree(const leaf *leaves, std::size_t count) {
    std::vector<tsr_leaf> items(count);
    for (std::size_t i = 0; i < count; i++) {
      items[i].tensor = tsr_tensor_of(leaves[i].path.c_str(), leaves[i].dtype, &leaves[i].shape);
      items[i].kind = leaves[i].on_devices ? TSR_LEAF_ARRAY : TSR_LEAF_HOST;
      items[i].array = leaves[i].on_devices.get();
      items[i].data = leaves[i].data;
    }
    check(tsr_array_tree_create(items.data(), static_cast<std::int64_t>(count), out()));
  }
};

}  // namespace tsr

#endif
