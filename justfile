# The commands that contributors need most. CONTRIBUTING.md has the plain commands.

# List the commands
default:
    @just --list

# Answer in two minutes after a change: format, unit and library tests, the cases, and the reference over HTTP
quick:
    .ci/run quick

# Run the tests
test *ARGS:
    cargo test --locked {{ARGS}}

# Check formatting, lints, dependencies, the package and the workflows
lint:
    .ci/run format clippy dependencies package workflows

# Check the adapters with the usual tools of their languages
adapters:
    .ci/run adapters

# Run the cases against targets (default: the reference)
run *ARGS:
    cargo run --locked --release -- run {{ARGS}}

# Run the cases against targets, and accept their observations as snapshots
accept +TARGETS:
    cargo run --locked --release -- run --accept {{TARGETS}}

# Write docs/compatibility.md and the image from the run log of a run of all targets
compatibility RUN_LOG:
    CASEBOOK_WRITE_COMPATIBILITY={{absolute_path(RUN_LOG)}} cargo test --locked --test library compatibility

# Show that every check can fail
prove:
    cargo run --locked --release -- prove
