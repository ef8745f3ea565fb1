"""The rival of bench/program_small_run.c: XLA runs the same programs on the same inputs."""

import jax

import xla_programs


def job(folder, text):
    compiled = xla_programs.compile_text(text)
    arrays = xla_programs.load(folder / "inputs.safetensors")
    originals = [xla_programs.put(arrays["arg%d" % i]) for i in range(len(arrays))]
    inputs = list(originals)

    def copy():  # a donated input is gone after a run
        inputs[:] = [jax.numpy.array(x, copy=True) for x in originals]
        jax.block_until_ready(inputs)
    donates = "tf.aliasing_output" in text or "jax.buffer_donor" in text
    return copy if donates else None, lambda: jax.block_until_ready(compiled.execute(inputs))


def main():
    xla_programs.serve_mean([job(folder, text) for folder, text in xla_programs.recorded()])


if __name__ == "__main__":
    main()
