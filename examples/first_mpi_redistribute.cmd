mpirun -n 4 first_mpi_redistribute
mpirun -n 2 first_mpi_redistribute 2>&1 | grep comm | uniq
