"""The rival of bench/program_small_compile.c: XLA compiles the same programs."""

import functools

import xla_programs


def main():
    xla_programs.serve_mean([(None, functools.partial(xla_programs.compile_text, text))
                             for _, text in xla_programs.recorded()])


if __name__ == "__main__":
    main()
