#!/usr/bin/env bash
# Builds Traefik from its Go module, which go.sum and the checksum database hold to what it was, and prints where the
# program is: in the folder that COURSEGATE_TRAEFIK names, or ~/.cache/coursegate-traefik. Needs Go 1.26.
#
# Left out is what is not there as a module, and what these tests do not use: the DNS challenges of ACME, and passwords.
set -euo pipefail

VERSION=v3.7.13

folder=${COURSEGATE_TRAEFIK:-${XDG_CACHE_HOME:-$HOME/.cache}/coursegate-traefik}
program=$folder/traefik
made=$(sha256sum < "$0")
if [ -x "$program" ] && [ "$(cat "$folder/made" 2>/dev/null)" = "$made" ]; then echo "$program"; exit 0; fi

command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || { echo "traefik.sh: no go found: Traefik is built with Go 1.26 (https://go.dev/dl)" >&2; exit 69; }
export GOFLAGS='-mod=mod -buildvcs=false'
echo "traefik.sh: building Traefik $VERSION in $folder" >&2
rm -rf "$folder"
mkdir -p "$folder/build"
cd "$folder/build"

source_of() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }
copy() { cp -r "$(source_of "$1")" "$2"; chmod -R u+w "$2"; }

traefik=$(source_of "github.com/traefik/traefik/v3@$VERSION")
cp "$traefik/go.sum" go.sum
chmod u+w go.sum
{ echo 'module coursegate.invalid/traefik'; sed 1d "$traefik/go.mod"; } > go.mod

mkdir ext
echo 'module github.com/traefik/traefik/dynamic/ext' > ext/go.mod
printf 'package ext\n\ntype HTTP struct{}\ntype Router struct{}\n' > ext/ext.go

copy "$(sed -n 's|^\tgithub.com/go-acme/lego/v5 |github.com/go-acme/lego/v5@|p' go.mod)" lego
rm -r lego/providers/dns/*
cat > lego/providers/dns/none.go <<'GO'
package dns

import (
	"errors"

	"github.com/go-acme/lego/v5/challenge"
)

func NewDNSChallengeProviderByName(string) (challenge.Provider, error) {
	return nil, errors.New("built without DNS challenges")
}
GO

copy github.com/abbot/go-http-auth@v0.4.0 passwords
rm -r passwords/examples passwords/*_test.go
echo 'module github.com/abbot/go-http-auth' > passwords/go.mod
cat > passwords/none.go <<'GO'
package auth

import "net/http"

func CheckSecret(_, _ string) bool { return false }

func (a *DigestAuth) RequireAuthStale(w http.ResponseWriter, r *http.Request) { a.RequireAuth(w, r) }
GO

go mod edit -require "github.com/traefik/traefik/v3@$VERSION" -require github.com/abbot/go-http-auth@v0.4.0 \
  -replace github.com/traefik/traefik/dynamic/ext=./ext -replace github.com/go-acme/lego/v5=./lego \
  -replace github.com/abbot/go-http-auth=./passwords
go build -ldflags '-s -w' -o "$program" github.com/traefik/traefik/v3/cmd/traefik >&2
rm -rf "$folder/build"
echo "$made" > "$folder/made"
echo "$program"
