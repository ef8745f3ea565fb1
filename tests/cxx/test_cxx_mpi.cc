// tessera.hpp over several ranks: an array goes from rows to columns, and to the host of one rank
// or of all.
#include <tessera/tessera.hpp>

#include <cstdio>
#include <numeric>

int main() try {
  const tsr::comm comm("mpi", 4);
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto rows = tsr::array::put(comm, {tsr::mesh("x=2,y=2"), "x, _", {4, 6}}, values);
  const auto columns = rows.reshard("_, y");
  for (int root = 0; root < comm.rank_count(); root++) {
    const auto whole = columns.gather_on<float>(comm, root);
    if (comm.rank() == root ? whole != values : !whole.empty()) {
      std::fprintf(stderr, "rank %d has %zu elements of what rank %d gathers\n", comm.rank(),
                   whole.size(), root);
      return 1;
    }
  }
  return comm.rank_count() == 2 && columns.gather<float>() == values ? 0 : 1;
} catch (const std::exception &unexpected) {
  std::fprintf(stderr, "thrown: %s\n", unexpected.what());
  return 1;
}
