mpirun -n 4 mpi_load
mpirun -n 2 mpi_load
mpirun -n 3 mpi_load 2>&1 | grep wanted | uniq
