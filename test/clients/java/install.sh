#!/usr/bin/env bash
# Builds the Java clients into .installed, each with its libraries, at the versions of the pom.xml files.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v javac > /dev/null || ! command -v mvn > /dev/null; then
  echo 'A JDK, 17 or later, and Maven are needed: apt-get install openjdk-17-jdk-headless maven' >&2
  exit 1
fi
rm -rf .installed
mvn --quiet --batch-mode package
