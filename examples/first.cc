// examples/layout.c in C++: which piece of a tensor does each device hold?
#include <iostream>
#include <tessera/tessera.hpp>

int main() try {
  const tsr::mesh mesh("data=4,model=2");
  const tsr::layout layout(mesh, "data, model", {8, 16});
  for (std::int64_t position = 0; position < layout.device_count(); position++) {
    const auto box = layout.box(layout.shard(position));
    std::cout << "device " << mesh.device(position) << " holds [" << box[0].lo << ":" << box[0].hi
              << ", " << box[1].lo << ":" << box[1].hi << "]\n";
  }
} catch (const std::exception &failure) {
  std::cerr << failure.what() << "\n";
  return 1;
}
