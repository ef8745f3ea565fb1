"""Random cases for the checks that ask us by the command."""
import argparse
import pathlib
import random
import subprocess
import tempfile


def command(tessera):
    """run(*arguments, wanted=0) of the command, which exits with its words where its exit code is another."""
    def run(*arguments, wanted=0):
        done = subprocess.run([tessera, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != wanted:
            raise SystemExit("tessera %s: exit code %d\n%s%s" % (" ".join(map(str, arguments)), done.returncode,
                                                               done.stdout, done.stderr))
        return done
    return run


def run(check, done):
    """Calls check(run, rng, folder) for each case that the command line asks for, in a folder of its
    own; the first that exits ends all and says how to repeat it. `done` tells how many went well."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    for case in range(arguments.count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(command(arguments.tessera), random.Random(arguments.seed * 1000003 + case),
                      pathlib.Path(folder))
            except SystemExit as failure:
                raise SystemExit("case %d of seed %d: %s" % (case, arguments.seed, failure)) from None
    print(done % arguments.count)
