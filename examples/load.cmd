load
