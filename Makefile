# A thin front: the work is done by CMake (CMakePresets.json) and the scripts in tools/.
# `make help` lists the targets from the ## comments behind them.
.DEFAULT_GOAL := all
.PHONY: all help demo check check-all check-peers check-fresh bench fuzz golden text coverage lint format docs \
        metrics install clean setup debug clang asan-ubsan tsan

PREFIX  ?= /usr/local
SECONDS ?= 60
ONLY    ?=
FILES   ?= $(wildcard tests/golden/*.json)
SEED    ?=
COUNT   ?=
ROUNDS  ?=

# configure and build a preset, quietly unless something goes wrong
build = @tools/build $(1)

all: ## build the library and the command (release): build/tessera
	$(call build,release)
	@ln -sf build/compile_commands.json compile_commands.json

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z -]+:.*## /{n = split($$1, names, " "); \
	  for (i = 1; i <= n; i++) printf "  %-14s %s\n", names[i], $$2}' $(MAKEFILE_LIST)

setup: ## install what is missing on this machine (Debian), or print how
	@tools/setup

demo: ## show what the command can do; builds nothing but the command: build/tessera
	@tools/setup --quiet build
	$(call build,release tessera)
	@tools/demo

check: ## the quick gate: release build, all tests, kept fuzz seeds
	@tools/setup --quiet build test mpi
	@$(MAKE) --no-print-directory all
	@ctest --preset release --output-on-failure -j "$$(nproc)"

check-all: ## the whole gate: asan-ubsan (with clang), coverage, tsan, lint, all ways to partition
	@tools/check_all

check-peers: ## compare with the real JAX, flax, t5x and eformer on fresh inputs [SEED=n] [COUNT=n] [ONLY=torch: PyTorch]
	@tools/setup --quiet build test peers
	@$(MAKE) --no-print-directory all
	@tests/peers/run $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) \
	  $(if $(ONLY),--only $(ONLY))

check-fresh: ## `make demo` and `make check` from nothing, in minimal Debians under build/fresh
	@tools/check_fresh

bench: ## measure beside the peers: a table and build/bench.json [ONLY=name] [ROUNDS=n]
	@tools/setup --quiet build test mpi peers
	@$(MAKE) --no-print-directory all
	@bench/run $(if $(ROUNDS),--rounds $(ROUNDS)) $(ONLY)

fuzz: ## fuzz every parser [SECONDS=60 for each] [ONLY=name]
	@tools/setup --quiet build fuzz
	@tools/fuzz $(SECONDS) $(ONLY)

golden: ## judge us by recorded answers [FILES="a.json b.json"] [ONLY=fn,fn]
	@tools/setup --quiet build test
	@$(MAKE) --no-print-directory all >&2
	@build/tests/golden/golden $(if $(ONLY),--only $(ONLY)) $(FILES)

text: all ## rewrite the kept output of the command and the examples; read the difference
	@tests/text/run --update --path build --path build/examples --path build/examples/openmpi tests/cli/*.cmd examples/*.cmd

coverage: ## run the tests counting lines; a table per room, fails under 90 %
	@tools/setup --quiet build test mpi lint
	@tools/check_all asan-ubsan coverage

lint: ## clang-format, clang-tidy, cppcheck, shellcheck, layers, tiers, reference
	@tools/setup --quiet build test mpi lint docs
	@tools/lint

format: ## rewrite the sources as .clang-format says
	@git ls-files '*.c' '*.h' '*.cc' '*.hpp' | xargs clang-format -i

metrics: ## sizes of files and functions; exported functions per tier
	@tools/metrics
	@tools/tiers

docs: ## the API reference by Doxygen: build/docs/html/index.html
	@tools/setup --quiet docs
	@mkdir -p build/docs && doxygen docs/Doxyfile

asan-ubsan tsan: ## build and test with these sanitizers only
	@tools/check_all $@

debug clang: ## build and test in that preset only
	$(call build,$@)
	@ctest --preset $@ -j "$$(nproc)"

install: all ## install everything [PREFIX=/usr/local] [DESTDIR=]
	@cmake --install build --prefix "$(PREFIX)"

clean: ## remove everything that was built
	@rm -rf build compile_commands.json
