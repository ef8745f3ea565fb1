dtypes
