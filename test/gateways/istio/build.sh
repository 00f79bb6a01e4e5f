#!/usr/bin/env bash
# Builds main.go with istiod's code from its Go module, which go.sum and the checksum database hold to what it was, and
# prints where the program is: in the folder that COURSEGATE_ISTIO names, or ~/.cache/coursegate-istio. Needs Go 1.26.
set -euo pipefail

# Of release 1.31
VERSION=v0.0.0-20260827124520-eed52ebb66ad

here=$(cd "$(dirname "$0")" && pwd)
folder=${COURSEGATE_ISTIO:-${XDG_CACHE_HOME:-$HOME/.cache}/coursegate-istio}
program=$folder/istio
made=$(cat "$0" "$here/main.go" | sha256sum)
if [ -x "$program" ] && [ "$(cat "$folder/made" 2>/dev/null)" = "$made" ]; then echo "$program"; exit 0; fi

command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || { echo "build.sh: no go found: Istio is built with Go 1.26 (https://go.dev/dl)" >&2; exit 69; }
export GOFLAGS='-mod=mod -buildvcs=false'
echo "build.sh: building with Istio $VERSION in $folder" >&2
rm -rf "$folder"
mkdir -p "$folder/build"
cp "$here/main.go" "$folder/build"
cd "$folder/build"

istio=$(go mod download -json "istio.io/istio@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp "$istio/go.sum" go.sum
chmod u+w go.sum
{ echo 'module coursegate.invalid/istio'; sed 1d "$istio/go.mod"; echo "require istio.io/istio $VERSION"; } > go.mod
go build -ldflags '-s -w' -o "$program" . >&2
rm -rf "$folder/build"
echo "$made" > "$folder/made"
echo "$program"
