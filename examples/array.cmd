array
