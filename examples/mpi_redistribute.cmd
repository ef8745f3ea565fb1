mpirun -n 4 mpi_redistribute
# MPICH's launcher may lose what a program says that fails at once: silence is asked again.
for try in 1 2 3 4 5; do mpirun -n 2 mpi_redistribute 2>&1 | grep wanted | uniq | grep . && break; done
