workers
