// tessera.hpp, checkpoint.hpp and engine.hpp, every class of them: who owns what, what is thrown,
// and that it gives what the C library gives. They are all it includes of the project, so that it
// is compiled against the installed package too.
#include <tessera/checkpoint.hpp>
#include <tessera/engine.hpp>
#include <tessera/tessera.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// What copies are and what a move leaves behind is what is tested.
// NOLINTBEGIN(bugprone-use-after-move, performance-unnecessary-copy-initialization)
namespace {

[[noreturn]] void nothing_thrown() {
  std::fprintf(stderr, "nothing was thrown\n");
  std::exit(1);
}

// What a call throws: its cause and its message.
template <class Call>
void expect_error(tsr_cause cause, const std::string &message, Call &&call) {
  try {
    call();
  } catch (const tsr::error &failure) {
    if (failure.cause() == cause && message == failure.what()) return;
    std::fprintf(stderr, "threw \"%s\" (%s), wanted \"%s\" (%s)\n", failure.what(),
                 tsr_cause_slug(failure.cause()), message.c_str(), tsr_cause_slug(cause));
    std::exit(1);
  }
  std::fprintf(stderr, "nothing thrown, wanted \"%s\"\n", message.c_str());
  std::exit(1);
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

// ---- handles ----

struct thing {
  int holders = 1;
};
thing *thing_retain(const thing *t) {
  auto *held = const_cast<thing *>(t);
  held->holders++;
  return held;
}
void thing_release(const thing *t) { const_cast<thing *>(t)->holders--; }
using owned_thing = tsr::owned<thing, thing_release>;
using shared_thing = tsr::shared<thing, thing_retain, thing_release>;
static_assert(!std::is_copy_constructible_v<owned_thing> &&
              !std::is_copy_assignable_v<owned_thing>);
static_assert(std::is_nothrow_move_constructible_v<owned_thing>);
static_assert(std::is_nothrow_copy_constructible_v<shared_thing>);
static_assert(std::is_nothrow_move_assignable_v<tsr::array>);
static_assert(!std::is_copy_constructible_v<tsr::transform> &&
              !std::is_copy_constructible_v<tsr::verification>);

void owned_handles_end_once() {
  thing first, second;
  {
    owned_thing a(&first), b(&second);
    EXPECT(a && a.get() == &first);
    a = std::move(b);  // what it held ends
    EXPECT(first.holders == 0 && second.holders == 1 && !b && a.get() == &second);
    owned_thing c(std::move(a));
    EXPECT(!a && c.get() == &second && second.holders == 1);
    EXPECT(*c.out() == nullptr && second.holders == 0);
    second.holders = 1;
    c.reset(&second);
    EXPECT(c.release() == &second && !c);
  }
  EXPECT(first.holders == 0 && second.holders == 1);
}

void shared_handles_count_their_copies() {
  thing t;
  {
    shared_thing a(&t);
    shared_thing b(a), c;
    EXPECT(t.holders == 2 && b.get() == &t);
    c = b;
    EXPECT(t.holders == 3);
    shared_thing &same = c;
    c = same;  // to itself
    EXPECT(t.holders == 3 && c.get() == &t);
    shared_thing d(std::move(c));
    EXPECT(t.holders == 3 && !c);
    c = std::move(d);
    EXPECT(t.holders == 3 && !d);
    const shared_thing empty(c.get() ? shared_thing() : c);
    EXPECT(!empty && !shared_thing(empty));
    EXPECT(tsr::share<shared_thing>(&t).get()->holders == 4 && t.holders == 4);
    EXPECT(t.holders == 3);
    EXPECT(!tsr::share<shared_thing>(nullptr));
  }
  EXPECT(t.holders == 0);
}

void buffers_count_their_holders() {
  const tsr::buffer_pool pool(tsr::buffer_pool_options{});
  auto one = tsr::make<tsr::buffer>(tsr_buffer_create, pool.get(), std::int64_t{64});
  const tsr::buffer two = one;
  EXPECT(two.get() == one.get() && tsr_buffer_data(two.get()));
  one = tsr::buffer();
  EXPECT(tsr_buffer_pool_in_use(pool.get()) >= 64);  // two has it still
}

void comms_share_a_pool() {
  int blocks = 0;
  tsr::buffer_pool_options options;
  options.keep_none = true;
  options.allocate = [](void *context, std::int64_t bytes, std::int64_t alignment) -> void * {
    ++*static_cast<int *>(context);
    const auto unit = static_cast<std::size_t>(alignment);
    return std::aligned_alloc(unit, (static_cast<std::size_t>(bytes) + unit - 1) / unit * unit);
  };
  options.release = [](void *context, void *block, std::int64_t) {
    --*static_cast<int *>(context);
    std::free(block);
  };
  options.context = &blocks;
  {
    tsr::buffer_pool pool(options);
    tsr::comm_options with_pool;
    with_pool.buffers = pool.get();
    const tsr::comm first(2, with_pool), second(2, with_pool);
    pool.reset();  // the comms keep it
    const tsr::layout layout(tsr::mesh("x=2"), "x", {8});
    const auto a = tsr::array::put(first, layout, numbers(8));
    EXPECT(blocks == 2);
    const auto b = tsr::array::put(second, layout, numbers(8));
    EXPECT(blocks == 4);
  }
  EXPECT(blocks == 0);
}

// ---- failure ----

void errors_carry_cause_code_and_message() {
  const tsr::mesh mesh("data=4,model=2");
  try {
    tsr::layout layout(mesh, "data, modle", {8, 16});
    nothing_thrown();
  } catch (const std::exception &caught) {
    const auto &failure = dynamic_cast<const tsr::error &>(caught);
    EXPECT(failure.cause() == TSR_CAUSE_UNKNOWN_MESH_AXIS && failure.code() == TSR_CODE_INVALID);
    EXPECT(std::string(failure.what()).find("\"modle\"") != std::string::npos);
    const tsr::error copy = failure;  // outlives what it was copied from
    EXPECT(copy.what() == std::string(failure.what()));
  }
  tsr::check(nullptr);
  expect_error(TSR_CAUSE_SYNTAX, "made in C++",
               [] { tsr::check(tsr_fail(SYNTAX, "made in %s", "C++")); });
}

void failures_leave_objects_as_they_were() {
  const tsr::mesh mesh("x=2");
  tsr::spec spec("x, _");
  try {
    spec = tsr::spec("x, (");
    nothing_thrown();
  } catch (const tsr::error &) {
  }
  EXPECT(spec.print() == "x, _");
}

// ---- values ----

void spans_see_vectors_arrays_and_pointers() {
  std::vector<int> vector = {1, 2, 3};
  const std::array<int, 2> array = {4, 5};
  int plain[] = {6, 7, 8, 9};
  tsr::span<int> a(vector);
  tsr::span<const int> b(array), c(plain), d(vector), none;
  EXPECT(a.size() == 3 && b.size() == 2 && c.size() == 4 && d.data() == vector.data());
  EXPECT(none.empty() && !c.empty() && c[3] == 9);
  for (int &value : a) value *= 2;
  EXPECT(vector[2] == 6 && *(b.end() - 1) == 5);
}

void shapes_are_lists() {
  const tsr::shape shape{8, 16}, scalar{};
  EXPECT(shape.rank == 2 && scalar.rank == 0 && shape != scalar);
  EXPECT(shape.elements() == 128 && shape.bytes(TSR_BF16) == 256 && scalar.elements() == 1);
  EXPECT(shape.print() == "(8, 16)" && tsr::shape::parse("8x16") == shape);
  EXPECT(std::vector<std::int64_t>(shape.begin(), shape.end()) ==
         (std::vector<std::int64_t>{8, 16}));
  const std::vector<std::int64_t> many(40, 1);
  try {
    tsr::shape too_long{tsr::span<const std::int64_t>(many)};
    nothing_thrown();
  } catch (const tsr::error &failure) {
    EXPECT(failure.code() == TSR_CODE_INVALID);
  }
  try {
    tsr::shape negative{8, -1};
    nothing_thrown();
  } catch (const tsr::error &failure) {
    EXPECT(failure.code() == TSR_CODE_INVALID);
  }
}

struct half {
  std::uint16_t bits;
};

}  // namespace
template <>
struct tsr::element<half> {
  static constexpr tsr_dtype dtype = TSR_BF16;
};
namespace {

static_assert(tsr::element<float>::dtype == TSR_F32 && tsr::element<double>::dtype == TSR_F64);
static_assert(tsr::element<bool>::dtype == TSR_BOOL && tsr::element<std::int8_t>::dtype == TSR_I8);
static_assert(tsr::element<std::uint16_t>::dtype == TSR_U16);
static_assert(tsr::element<std::int32_t>::dtype == TSR_I32);
static_assert(tsr::element<long long>::dtype == TSR_I64 && tsr::element<long>::dtype == TSR_I64);
static_assert(tsr::element<std::complex<float>>::dtype == TSR_C64);

void options_know_their_size() {
  const tsr::reshard_options reshard;
  EXPECT(reshard.size == sizeof(tsr_reshard_options) && !reshard.donate && !reshard.max_memory);
  const tsr::options<tsr_transform_options> transform;
  EXPECT(transform.size == sizeof(tsr_transform_options) && !transform.plan);
}

// ---- meshes, specs, layouts ----

void meshes_print_and_compare() {
  const tsr::topology machine("gpu:2x4:h100");
  EXPECT(machine.device_count() == 8);
  EXPECT(tsr::topology::detect().device_count() >= 1);
  const tsr::mesh mesh("data=-1,model=2", machine);
  EXPECT(mesh.device_count() == 8 && mesh.axis_count() == 2 && mesh.device(7) == 7);
  EXPECT(mesh.axis(0).size == 4 && mesh.find_axis("model") == 1 && mesh.find_axis("x") == -1);
  EXPECT(mesh.print() == "data=4,model=2" && mesh != tsr::mesh("data=4,model=3"));
  expect_error(TSR_CAUSE_INDEX_OUT_OF_RANGE, "axis 2 is not in 0 to 1",
               [&] { (void)mesh.axis(2); });
  const auto slice =
      tsr::make<tsr::mesh>(tsr_mesh_slice, mesh.get(), "data", std::int64_t{1});  // any C function
  EXPECT(slice.device_count() == 2 && slice.device(0) == 2);
}

void layouts_say_who_holds_what() {
  const tsr::mesh mesh("data=4,model=2");
  const tsr::layout layout(mesh, "data, model", {8, 16});
  EXPECT(layout.device_count() == 8 && layout.shard_count() == 8 && layout.device(5) == 5);
  EXPECT(layout.shape() == (tsr::shape{8, 16}) && layout.mesh() == mesh);
  EXPECT(layout.mesh().get() == mesh.get());  // the same, held once more
  const auto box = layout.box(layout.shard(3));
  EXPECT(box.size() == 2 && box[0].lo == 2 && box[0].hi == 4 && box[1].lo == 8 && box[1].hi == 16);
  EXPECT(!layout.equivalent({mesh, "model, data", {8, 16}}));
  const tsr::layout rows(mesh, "data", {8, 16});
  EXPECT(rows.shard(5) == 2 && rows.replica_id(4) == 0 && rows.replica_id(5) == 1);
}

void shardings_cut_by_any_policy() {
  const tsr::mesh mesh("data=4,model=2");
  const tsr::sharding sharding(mesh, tsr::spec("data, model"));
  const auto layout = sharding.layout({8, 16});
  EXPECT(layout.equivalent({mesh, "data, model", {8, 16}}));
  EXPECT(tsr::sharding::of(layout).spec() == tsr::spec("P('data', 'model')"));
  EXPECT(tsr::sharding::of(layout).mesh() == mesh);
  const auto pieces = tsr::pieces(layout, 3);
  EXPECT(pieces.size() == 1 && pieces[0].ranges[1].lo == 8);
  try {
    (void)sharding.layout({6, 16});
    nothing_thrown();
  } catch (const tsr::error &failure) {
    EXPECT(failure.cause() == TSR_CAUSE_INDIVISIBLE);
  }
  const auto padded = sharding.layout({6, 16}, TSR_POLICY_PAD);
  EXPECT(padded.shard_count() == 8 && tsr::pieces(padded, padded.shard(7)).empty());
}

void logical_names_become_specs() {
  const tsr::logical_rules rules("batch -> data\nembed -> model\n");
  EXPECT(rules);
  tsr::logical_names names{"batch", tsr::none, std::string("embed")};
  EXPECT(names.size() == 3 && rules.to_spec(names) == tsr::spec("data, _, model"));
  tsr::logical_names copy = names, moved = std::move(names);
  EXPECT(names.size() == 0 && rules.to_spec(copy) == rules.to_spec(moved));
  copy = {tsr::group{"data", "model"}, tsr::unconstrained};
  EXPECT(copy.size() == 2 && copy.get()->items[0].count == 2);
  EXPECT(rules.to_spec(copy) == tsr::spec("data+model, ?"));
  EXPECT(tsr::logical_names(std::vector<tsr::logical_entry>{}).size() == 0);
  EXPECT(tsr::logical_names().size() == 0);
  const auto parsed = tsr::logical_names::parse("batch, _, embed");
  EXPECT(parsed.size() == 3 && rules.to_spec(parsed) == rules.to_spec(moved));
  tsr::logical_rules elsewhere = tsr::logical_rules("batch -> model\n");
  elsewhere = tsr::logical_rules("batch -> data\n");
  EXPECT(elsewhere.to_spec({"batch"}) == tsr::spec("data"));
}

// ---- trees, rules, plans ----

void plans_give_specs_and_reasons() {
  const tsr::tree tree{{"mlp.up", TSR_F32, {64, 16}, {"embed", ""}}, {"norm", TSR_F32, {16}}};
  EXPECT(tree.size() == 2 && tree.bytes() == 4 * (1024 + 16) &&
         tree[1].path == std::string("norm"));
  EXPECT(tree.find("norm") == 1 && tree.find("nrom") == -1 && tree.index("mlp.up") == 0);
  expect_error(TSR_CAUSE_NOT_FOUND, "no tensor \"nrom\" among 2",
               [&] { (void)tree.index("nrom"); });
  expect_error(TSR_CAUSE_INDEX_OUT_OF_RANGE, "tensor 2 is not in 0 to 1", [&] { (void)tree[2]; });

  const tsr::mesh mesh("fsdp=2,tp=2");
  const tsr::rules rules("up$ -> tp, fsdp\nnorm -> _\n", "layer.rules");
  EXPECT(rules.size() == 2 && !rules.print().empty());
  const auto plan = tsr::plan::match(tree, mesh, rules);
  EXPECT(plan.size() == 2 && plan.mesh() == mesh && plan.tree().get() == tree.get());
  EXPECT(plan.find_spec("mlp.up").print() == "tp, fsdp" && !plan.find_spec("down"));
  EXPECT(plan.layout("mlp.up").shard_count() == 4 && plan.layout(1).shard_count() == 1);
  EXPECT(plan.explain("mlp.up").find("layer.rules:1") != std::string::npos);
  EXPECT(plan.bytes_per_device() == 4 * (1024 / 4 + 16));
  expect_error(TSR_CAUSE_NOT_FOUND, "the plan has no tensor \"nrom\"; did you mean \"norm\"?",
               [&] { (void)plan.layout("nrom"); });
  EXPECT(tsr::plan::automatic(tree, mesh).layout("mlp.up").shard_count() == 4);
  tsr::fit_options tight;
  tight.limit = 2200;  // bytes; the whole takes 4160
  EXPECT(tsr::plan::fit(tree, mesh, tight).bytes_per_device() <= 2200);
  const auto by_names = tsr::plan::logical(tree, mesh, tsr::logical_rules("embed -> tp\n"));
  EXPECT(by_names.find_spec("mlp.up") == tsr::spec("tp, _"));

  tsr::match_options options;
  options.min_size = 1 << 20;  // nothing is that large
  EXPECT(tsr::plan::match(tree, mesh, rules, options).layout(0).shard_count() == 1);
  tsr::rules_options with_mesh;
  const tsr_fact facts[] = {{"heads", 8}, {"kv_heads", 8}, {"head_dim", 64}};
  with_mesh.mesh = mesh.get();
  with_mesh.facts = facts;
  with_mesh.fact_count = 3;
  EXPECT(tsr::rules::preset("llama", with_mesh).size() > 0);
  try {
    tsr::plan::match(tree, mesh, tsr::rules("up -> tp\n"));
    nothing_thrown();
  } catch (const tsr::error &failure) {
    EXPECT(failure.cause() == TSR_CAUSE_NO_RULE && failure.code() == TSR_CODE_NOT_FOUND);
  }
}

// ---- arrays ----

void arrays_go_there_and_back() {
  const tsr::comm comm(4);
  EXPECT(comm.device_count() == 4 && comm.rank_count() == 1 && comm.rank() == 0);
  const tsr::mesh mesh("x=2,y=2");
  const auto values = numbers(24);
  const auto rows = tsr::array::put(comm, {mesh, "x, _", {4, 6}}, values);
  EXPECT(rows.dtype() == TSR_F32 && rows.shape() == (tsr::shape{4, 6}) && rows.local_count() == 4);
  EXPECT(rows.layout().mesh() == mesh && !rows.print().empty());
  EXPECT(rows.local(3).ranges[0].lo == 2 && rows.data<float>(3)[0] == 12.0F);
  EXPECT(rows.data<std::byte>(3).size() == 48);
  const auto columns = rows.reshard("_, y");
  EXPECT(columns.data<float>(1)[0] == 3.0F && columns.gather<float>() == values);
  EXPECT(columns.gather_on<float>(comm, 0) == values && columns.gather<std::byte>().size() == 96);
  std::array<float, 24> whole{};
  columns.gather_to(tsr::span<float>(whole));
  EXPECT(whole[23] == 23.0F);

  tsr::array donated = rows;  // the same array
  tsr::reshard_options options;
  options.donate = true;
  const auto moved = donated.reshard({mesh, "y, x", {4, 6}}, options);
  EXPECT(moved.gather<float>() == values);
  expect_error(TSR_CAUSE_ARRAY_DELETED, "the array was donated: its buffers are gone",
               [&] { rows.gather<float>(); });
  auto target = tsr::array::zeros(comm, {mesh, "y, _", {4, 6}}, TSR_F32);
  moved.reshard_into(target);
  EXPECT(target.data<float>(1)[0] == 12.0F && target.gather<float>() == values);
  const std::vector<tsr::array> both = {columns, moved};
  const std::vector<tsr::layout> layouts(2, columns.layout());
  const auto again = tsr::reshard_all(both, layouts);
  EXPECT(again.size() == 2 && again[1].layout().equivalent(layouts[1]));
  EXPECT(again[1].gather<float>() == values);
}

void arrays_refuse_what_does_not_fit() {
  const tsr::comm comm(2);
  const tsr::layout layout(tsr::mesh("x=2"), "x", {8});
  expect_error(TSR_CAUSE_BAD_ARGUMENT, "the caller's memory has 28 bytes, the tensor 32",
               [&] { tsr::array::put(comm, layout, numbers(7)); });
  const auto array = tsr::array::zeros(comm, layout, TSR_F32);
  expect_error(TSR_CAUSE_BAD_ARGUMENT, "elements are f32, but f64 is asked for",
               [&] { array.gather<double>(); });
  const std::vector<tsr::array> one = {array};
  expect_error(TSR_CAUSE_BAD_ARGUMENT, "1 arrays, but 0 layouts",
               [&] { tsr::reshard_all(one, {}); });
  std::vector<float> small(4);
  bool thrown = false;
  try {
    array.gather_to(tsr::span<float>(small));
  } catch (const tsr::error &failure) {
    thrown = failure.cause() == TSR_CAUSE_BAD_ARGUMENT;
  }
  EXPECT(thrown);
}

void arrays_have_elements_of_any_type() {
  const tsr::comm comm(2);
  const tsr::layout layout(tsr::mesh("x=2"), "x", {4});
  const std::vector<half> halves = {{1}, {2}, {3}, {4}};
  const auto bf16 = tsr::array::put(comm, layout, halves);
  EXPECT(bf16.dtype() == TSR_BF16 && bf16.gather<half>()[3].bits == 4);
  const auto raw = tsr::array::put(comm, layout, TSR_BF16, bf16.gather<std::byte>());
  EXPECT(raw.data<half>(1)[0].bits == 3);
  tsr::array counted = tsr::array::zeros(comm, {tsr::mesh("x=2"), "_", {4}}, TSR_I32);
  counted.write<std::int32_t>(0)[1] = 7;  // a private buffer: the replica keeps its zeros
  EXPECT(counted.data<std::int32_t>(0)[1] == 7 && counted.data<std::int32_t>(1)[1] == 0);
  counted.write_all<std::int32_t>(
      [](const tsr_local_shard &, tsr::span<std::int32_t> all) { all[2] = all[1] + 1; });
  EXPECT(counted.data<std::int32_t>(1)[2] == 8);
  expect_error(TSR_CAUSE_BAD_ARGUMENT, "elements are i32, but f32 is asked for",
               [&] { counted.write_all<float>([](const tsr_local_shard &, tsr::span<float>) {}); });
}

void borrowed_memory_is_kept_while_it_is_needed() {
  const tsr::comm comm(2);
  const auto values = std::make_shared<const std::vector<float>>(numbers(8));
  const tsr::span<const float> seen(*values);
  {
    const auto rows = tsr::array::borrow(comm, {tsr::mesh("x=2"), "x", {8}}, seen, values);
    EXPECT(values.use_count() == 2 && rows.data<float>(1).data() == values->data() + 4);
    const tsr::array copy = rows;
  }
  EXPECT(values.use_count() == 1);
  const tsr::layout wrong(tsr::mesh("x=4"), "x", {8});  // more devices than the comm has
  bool thrown = false;
  try {
    tsr::array::borrow(comm, wrong, seen, values);
  } catch (const tsr::error &) {
    thrown = true;
  }
  EXPECT(thrown && values.use_count() == 1);
}

// ---- callbacks ----

void fills_may_throw() {
  const tsr::comm comm(8);
  const tsr::layout layout(tsr::mesh("x=8"), "x, _", {8, 4});
  const auto fill = [](const tsr_local_shard &shard, tsr::span<float> elements) {
    for (float &element : elements) element = static_cast<float>(shard.device);
  };
  const auto made = tsr::array::generate<float>(comm, layout, fill);
  EXPECT(made.gather<float>()[31] == 7.0F && made.data<float>(3)[0] == 3.0F);

  std::atomic<int> calls{0};
  const auto failing = [&](const tsr_local_shard &shard, tsr::span<float>) {
    calls++;
    if (shard.device >= 3) throw std::out_of_range("device " + std::to_string(shard.device));
  };
  bool thrown = false;
  try {
    tsr::array::generate<float>(comm, layout, failing);
  } catch (const std::out_of_range &caught) {
    thrown = std::string(caught.what()).rfind("device ", 0) == 0;
  }
  EXPECT(thrown && calls >= 1);
  tsr::array kept = made;
  thrown = false;
  try {
    kept.write_all<float>(failing);
  } catch (const std::out_of_range &) {
    thrown = true;
  }
  EXPECT(thrown);
  expect_error(
      TSR_CAUSE_UNSUPPORTED, "not here", [&] {  // a failure of the library comes back whole
        tsr::array::generate<float>(comm, layout, [](const tsr_local_shard &, tsr::span<float>) {
          tsr::check(tsr_fail(UNSUPPORTED, "not here"));
        });
      });
}

// ---- checkpoints ----

struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/tessera-cxx.XXXXXX";
    EXPECT(mkdtemp(name));
    path = name;
  }
  folder(const folder &) = delete;
  folder &operator=(const folder &) = delete;
  ~folder() { std::filesystem::remove_all(path); }
};

void checkpoints_are_saved_loaded_and_verified() {
  const folder temporary;
  const std::string saved = temporary.path + "/saved", cut = temporary.path + "/cut";
  const tsr::comm comm(4);
  const tsr::mesh mesh("dp=2,tp=2");
  const auto values = numbers(128);
  const std::vector<std::int64_t> step = {1000};
  const auto weights = tsr::array::put(comm, {mesh, "dp, tp", {8, 16}}, values);
  const tsr::array_tree state{{"w", weights}, {"step", {}, step}};
  EXPECT(state.size() == 2 && state[0].array == weights.get() && state["step"].data == step.data());
  EXPECT(state.array("w").get() == weights.get() && state.shapes().bytes() == 512 + 8);
  expect_error(TSR_CAUSE_NOT_FOUND, "no leaf \"v\"", [&] { (void)state["v"]; });
  expect_error(TSR_CAUSE_NOT_FOUND, "the tree has no leaf \"stop\"; did you mean \"step\"?",
               [&] { state.array("stop"); });
  expect_error(TSR_CAUSE_UNSUPPORTED_LEAF,
               "leaf \"step\" is a tensor in host memory, wanted an array",
               [&] { state.array("step"); });
  expect_error(TSR_CAUSE_INDEX_OUT_OF_RANGE, "leaf 2 is not in 0 to 1", [&] { (void)state[2]; });

  std::int64_t last = 0;
  tsr::save(state, saved, comm, {}, [&](const tsr_progress_report &report) {
    last = report.done;
    return true;
  });
  EXPECT(last == 512 + 8);
  const tsr::checkpoint model(saved);
  EXPECT(model.format() == TSR_FORMAT_TESSERA && model.tree().size() == 2);
  EXPECT(model.plan() && model.warnings().empty());
  EXPECT(model.read<float>("w") == values && model.read<std::int64_t>("step") == step);
  const std::vector<tsr_range> box = {{2, 4}, {0, 1}};
  EXPECT(model.read<float>("w", box) == (std::vector<float>{32.0F, 48.0F}));
  expect_error(TSR_CAUSE_BAD_ARGUMENT, "\"w\" has 2 dimensions, the box 1", [&] {
    model.read<float>("w", {{0, 1}});
  });
  expect_error(TSR_CAUSE_INDEX_OUT_OF_RANGE,
               "dimension 1 of \"w\" has no range 8 to 17: its size is 16", [&] {
                 model.read<float>("w", {{0, 1}, {8, 17}});
               });
  expect_error(TSR_CAUSE_BAD_ARGUMENT, "elements are i64, but f32 is asked for",
               [&] { model.read<float>("step"); });

  const tsr::comm two(2);
  const auto plan =
      tsr::plan::match(model.tree(), tsr::mesh("tp=2"), tsr::rules("w -> tp, _\n.* -> ()\n"));
  tsr::load_options options;
  options.dtype = TSR_F64;
  const auto loaded = tsr::checkpoint(two, saved).load(plan, two, options);
  EXPECT(loaded.size() == 2 && loaded.array("w").gather<double>()[127] == 127.0);
  EXPECT(loaded.array("step").gather<std::int64_t>() == step);

  const auto direct = tsr::load(saved, tsr::mesh("tp=2"), "w -> tp, _\n.* -> ()\n", two);
  EXPECT(direct.array("w").gather<float>() == values);

  tsr::transform_options how;
  how.plan = plan.get();
  tsr::transform first(model, cut, how);
  tsr::transform job = std::move(first);
  EXPECT(!first && job.certificate().tensors == 2);
  job.run();
  EXPECT(job.report().lost_elements == 0);
  const tsr::verification same(model, tsr::checkpoint(cut));
  EXPECT(same.equal() && same.size() == 2 && same[0].verdict == TSR_VERDICT_SAME);
  expect_error(TSR_CAUSE_INDEX_OUT_OF_RANGE, "row 2 is not in 0 to 1", [&] { (void)same[2]; });
}

void maps_make_tensors_of_others() {
  const folder temporary;
  const tsr::comm comm(1);
  const auto values = numbers(4);
  const tsr::array_tree state{{"a", {4}, values}, {"b", {4}, values}};
  tsr::save_options whole;
  whole.format = TSR_FORMAT_FOLDER;
  tsr::save(state, temporary.path + "/apart", comm, whole);
  const tsr::checkpoint apart(temporary.path + "/apart");
  const auto plan = tsr::plan::from_text(temporary.path + "/apart", tsr::mesh("x=2"), ". -> x\n");
  EXPECT(plan.find_spec("b") == tsr::spec("x"));
  EXPECT(tsr::tree::open(temporary.path + "/apart").size() == plan.tree().size());
  const auto mapping = tsr::map("ab = concat(0, a, b)\n").apply(apart.tree());
  EXPECT(mapping.tree().size() == 1 && tsr::map::preset("llama-fuse"));
  tsr::transform_options options;
  options.map = mapping.get();
  tsr::transform(apart, temporary.path + "/joined", options).run();
  EXPECT(tsr::checkpoint(temporary.path + "/joined").read<float>("ab")[7] == 3.0F);
}

void progress_may_throw_and_stop() {
  const folder temporary;
  const std::string saved = temporary.path + "/saved";
  const tsr::comm comm(2);
  const auto array = tsr::array::put(comm, {tsr::mesh("x=2"), "x", {64}}, numbers(64));
  const tsr::array_tree state{{"w", array}};
  const auto throwing = [](const tsr_progress_report &) -> bool {
    throw std::domain_error("full");
  };
  const auto throws = [&](auto &&call) {
    try {
      call();
    } catch (const std::domain_error &caught) {
      return std::string(caught.what()) == "full";
    }
    return false;
  };
  EXPECT(throws([&] { tsr::save(state, saved, comm, {}, throwing); }));
  tsr::save_options replace;
  replace.existing = TSR_EXISTING_REPLACE;
  tsr::save(state, saved, comm, replace);
  const tsr::checkpoint model(saved);
  const auto plan = tsr::plan::match(model.tree(), tsr::mesh("x=2"), tsr::rules(". -> x\n"));
  EXPECT(throws([&] { model.load(plan, comm, {}, throwing); }));
  EXPECT(throws([&] { tsr::verification(model, model, {}, throwing); }));
  tsr::transform job(model, temporary.path + "/copy", {}, throwing);
  EXPECT(throws([&] { job.run(); }));
}

void trees_are_put_and_gathered() {
  const tsr::comm comm(4);
  const tsr::mesh mesh("fsdp=2,tp=2");
  const auto up = numbers(64 * 16), norm = numbers(16);
  const tsr::array_tree parameters{{"up", {64, 16}, up}, {"norm", {16}, norm}};
  expect_error(TSR_CAUSE_BAD_ARGUMENT, "the caller's memory has 64 bytes, the tensor 60", [&] {
    tsr::array_tree{{"norm", {15}, norm}};
  });
  const std::string rules = "up -> fsdp, tp\nnorm -> _\n";
  const auto plan = tsr::plan::match(parameters.shapes(), mesh, tsr::rules(rules));
  const auto placed = parameters.put(comm, mesh, rules);
  EXPECT(placed.array("up").layout().equivalent(plan.layout("up")));
  EXPECT(placed.array("up").layout().shard_count() == 4 && !placed.print().empty());
  EXPECT(placed.array("norm").gather<float>() == norm);
  const auto back = placed.gather();
  EXPECT(static_cast<const float *>(back["up"].data)[1023] == 1023.0F);
}

}  // namespace

// NOLINTEND(bugprone-use-after-move, performance-unnecessary-copy-initialization)
int main() try {
  owned_handles_end_once();
  shared_handles_count_their_copies();
  buffers_count_their_holders();
  comms_share_a_pool();
  errors_carry_cause_code_and_message();
  failures_leave_objects_as_they_were();
  spans_see_vectors_arrays_and_pointers();
  shapes_are_lists();
  options_know_their_size();
  meshes_print_and_compare();
  layouts_say_who_holds_what();
  shardings_cut_by_any_policy();
  logical_names_become_specs();
  plans_give_specs_and_reasons();
  arrays_go_there_and_back();
  arrays_refuse_what_does_not_fit();
  arrays_have_elements_of_any_type();
  borrowed_memory_is_kept_while_it_is_needed();
  fills_may_throw();
  checkpoints_are_saved_loaded_and_verified();
  maps_make_tensors_of_others();
  progress_may_throw_and_stop();
  trees_are_put_and_gathered();
  std::puts("tessera.hpp: all as it should be");
  return 0;
} catch (const std::exception &unexpected) {
  std::fprintf(stderr, "thrown: %s\n", unexpected.what());
  return 1;
}
