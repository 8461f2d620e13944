# Two commands are all that a newcomer needs: `make demo` and `make check`. What they need is installed through apt (see ci/deps).

BUILD ?= out/build

.PHONY: all demo check bench soak coverage install clean

all:
	@ci/build $(BUILD)

# From nothing to a named culprit on a real compiler: out/demo/report.html and out/demo/report.md.
demo:
	@ci/demo

# Every test, with gcc, clang and the sanitizers. Ends with a line "N passed, N failed".
check:
	@ci/check

# All benches, or one: make bench NAME=noise
bench:
	@ci/bench $(NAME)

# What takes longer than a change should wait for.
soak:
	@ci/soak

# Lines and branches of our own C, as out/coverage/index.html.
coverage:
	@ci/coverage

install: all
	@meson install -C $(BUILD)

clean:
	@rm -rf out
