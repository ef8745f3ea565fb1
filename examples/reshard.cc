// examples/array.c in C++: a matrix on four devices, cut by rows, then by columns, then whole.
#include <iostream>
#include <tessera/tessera.hpp>

static void show(const tsr::array &array) {
  std::cout << array.print() << "\n";
  for (std::int64_t i = 0; i < array.local_count(); i++) {
    const auto shard = array.local(i);
    std::cout << "  device " << shard.device << ", replica " << shard.replica << ", rows "
              << shard.ranges[0].lo << " to " << shard.ranges[0].hi << ", columns "
              << shard.ranges[1].lo << " to " << shard.ranges[1].hi << ":";
    for (const float value : array.data<float>(i)) std::cout << " " << value;
    std::cout << "\n";
  }
}

int main() try {
  std::vector<float> matrix;
  for (int row = 0; row < 4; row++)
    for (int column = 0; column < 6; column++)
      matrix.push_back(static_cast<float>(10 * row + column));
  const tsr::comm comm(4);
  const tsr::mesh mesh("x=2,y=2");
  const auto rows = tsr::array::put(comm, {mesh, "x, _", {4, 6}}, matrix);
  const auto columns = rows.reshard("_, y");
  show(rows);
  show(columns);
  const auto back = columns.gather<float>();
  for (std::size_t i = 0; i < back.size(); i++) std::cout << back[i] << (i % 6 == 5 ? "\n" : " ");
} catch (const std::exception &failure) {
  std::cerr << failure.what() << "\n";
  return 1;
}
