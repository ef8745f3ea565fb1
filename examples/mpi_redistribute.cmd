mpirun -n 4 mpi_redistribute
mpirun -n 2 mpi_redistribute 2>&1 | grep wanted | uniq
