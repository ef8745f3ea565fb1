failure
