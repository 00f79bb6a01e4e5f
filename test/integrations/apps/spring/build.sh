#!/bin/sh
# Prepares the test application, offline, once for all tests: `packages` finds what it needs in Maven's repository, `classes`
# compiles it and the drop-in too. Prints the folder, which has a name of its own for each version of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
version=$(cat "$root"/integrations/spring/*.java "$here/School.java" "$here/pom.xml" | sha256sum | cut -c 1-16)
made=$root/node_modules/.cache/coursegate-spring/$version
command -v javac >/dev/null
mkdir -p "$made"

# Two tests may get here at once: each makes its own, and one of them is kept.
if ! { [ -e "$made/classpath" ] && ls $(tr : ' ' <"$made/classpath") >/dev/null 2>&1; }; then
  mvn -q -B -o -f "$here/pom.xml" dependency:build-classpath "-Dmdep.outputFile=$made/classpath.$$"
  mv "$made/classpath.$$" "$made/classpath"
fi
if [ "$1" = classes ] && [ ! -d "$made/classes" ]; then
  javac -parameters -d "$made/classes.$$" -cp "$(cat "$made/classpath")" "$root"/integrations/spring/*.java "$here/School.java"
  mv -T "$made/classes.$$" "$made/classes" || [ -d "$made/classes" ]
fi
echo "$made"
