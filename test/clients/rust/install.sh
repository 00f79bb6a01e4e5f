#!/usr/bin/env bash
# Builds the Rust clients into .installed, with the crates of Cargo.lock. What the crates compile to is kept in
# ~/.cache/coursegate-rust-clients, because it takes two minutes of processor time.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v cargo > /dev/null; then
  echo 'Cargo is needed, for edition 2024 (Rust 1.88 or later)' >&2
  exit 1
fi
target=${XDG_CACHE_HOME:-$HOME/.cache}/coursegate-rust-clients
cargo build --quiet --locked --target-dir "$target"
mkdir -p .installed
cp "$target"/debug/{rmcp,oauth2,openidconnect} .installed/
