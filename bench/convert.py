"""The rival of bench/convert.c: copies with a cast by NumPy and ml_dtypes, on the same values."""
import sys
import time

import ml_dtypes
import numpy as np

COUNT = 4 << 20
TYPES = [ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


def main():
    values = ((np.arange(COUNT) % 2003 - 1001) / 512).astype(np.float32)
    narrow = [np.empty(COUNT, kind) for kind in TYPES]
    back = np.empty(COUNT, np.float32)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        for target in narrow:
            np.copyto(target, values, casting="unsafe")
            np.copyto(back, target, casting="unsafe")
        print(f"{time.perf_counter() - wall:.9f} {time.process_time() - cpu:.9f}", flush=True)


if __name__ == "__main__":
    main()
