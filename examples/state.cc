// A train state in C++: saved from four devices, and loaded on two.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <tessera/checkpoint.hpp>
#include <tessera/tessera.hpp>

static void save(const std::string &path, const std::vector<std::int64_t> &step) {
  const tsr::comm comm(4);
  const tsr::layout layout(tsr::mesh("dp=2,tp=2"), "dp, tp", {8, 16});
  const auto fill = [](const tsr_local_shard &shard, tsr::span<float> elements) {
    for (float &element : elements) element = static_cast<float>(shard.device);
  };
  const auto w = tsr::array::generate<float>(comm, layout, fill);
  const auto m = tsr::array::zeros(comm, layout, TSR_F32);
  tsr::save({{"w", w}, {"m", m}, {"step", {}, step}}, path, comm);
}

static void load(const std::string &path) {
  const tsr::comm comm(2);
  const auto state = tsr::load(path, tsr::mesh("tp=2"), "w|m -> tp, _\nstep -> ()\n", comm);
  std::cout << state.print();
  std::cout << "step " << state.array("step").gather<std::int64_t>()[0] << ", device 1 holds "
            << state.array("w").data<float>(1)[0] << " and more\n";
}

int main() {
  char folder[] = "/tmp/tessera-example.XXXXXX";
  if (!mkdtemp(folder)) return 1;
  int code = 0;
  try {
    save(folder + std::string("/state"), {1000});
    load(folder + std::string("/state"));
  } catch (const std::exception &failure) {
    std::cerr << failure.what() << "\n";
    code = 1;
  }
  std::filesystem::remove_all(folder);
  return code;
}
