#!/usr/bin/env bash
# Installs the packages of the Python clients into .installed, at the versions of requirements.txt and requirements-mcp-1.txt.
set -euo pipefail
cd "$(dirname "$0")"
if ! python3 -m venv --help > /dev/null 2>&1; then
  echo 'Python 3.10 or later with venv is needed: apt-get install python3-venv' >&2
  exit 1
fi
install() { # environment, requirements
  [ -x ".installed/$1/bin/python" ] || python3 -m venv ".installed/$1"
  ".installed/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --requirement "$2"
}
install latest requirements.txt
install mcp-1 requirements-mcp-1.txt
