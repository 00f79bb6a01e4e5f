#!/usr/bin/env bash
# Builds the Rust clients into .installed, with the crates of Cargo.lock.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v cargo > /dev/null; then
  echo 'Cargo is needed, for edition 2024 (Rust 1.88 or later)' >&2
  exit 1
fi
cargo build --quiet --locked --target-dir .installed
