#!/usr/bin/env bash
# Builds the Go clients into .installed, with the modules of go.mod and go.sum.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v go > /dev/null; then
  echo 'Go is needed, at the version of go.mod or later' >&2
  exit 1
fi
(cd genqlient && go tool genqlient)
go build -mod=readonly -o .installed/ ./...
