#!/bin/sh
# Copies what Node's program needs of a Debian with Node in it into a new folder: the libraries that it loads, their
# licences and package records, and a user. It only reads files, so the Debian may be of another architecture.
# Usage: sh system.sh DEBIAN FOLDER
set -eu
umask 022
from=$1
to=$2
libraries='ld-linux-*.so.* libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 libresolv.so.2 libgcc_s.so.1 libstdc++.so.6*'
packages='base-files gcc-12-base libc6 libgcc-s1 libstdc++6'

mkdir -p "$to/usr/lib" "$to/etc/coursegate" "$to/var/lib/dpkg/status.d"
mkdir -m 1777 "$to/tmp"
for link in lib lib64; do
  if [ -L "$from/$link" ]; then cp -P "$from/$link" "$to/$link"; fi
done
cd "$from"
for library in $libraries; do
  found=
  for file in usr/lib/*-linux-gnu/$library usr/lib/$library usr/lib64/$library; do
    if [ ! -e "$file" ] && [ ! -L "$file" ]; then continue; fi
    mkdir -p "$to/${file%/*}"
    cp -P "$file" "$to/$file"
    found=yes
  done
  if [ -z "$found" ]; then echo "system.sh: no $library in $from" >&2; exit 1; fi
done

for package in $packages; do
  mkdir -p "$to/usr/share/doc"
  if [ -L "usr/share/doc/$package" ]; then
    cp -P "usr/share/doc/$package" "$to/usr/share/doc/"
  else
    mkdir "$to/usr/share/doc/$package"
    cp "usr/share/doc/$package/copyright" "$to/usr/share/doc/$package/"
  fi
  # Where scanners look for the packages of an image without dpkg.
  awk -v RS= -v "name=Package: $package" '$0 == name || index($0, name "\n") == 1' var/lib/dpkg/status > "$to/var/lib/dpkg/status.d/$package"
  if [ ! -s "$to/var/lib/dpkg/status.d/$package" ]; then echo "system.sh: $package is not installed in $from" >&2; exit 1; fi
done
if [ -e usr/local/LICENSE ]; then
  mkdir -p "$to/usr/share/doc/nodejs"
  cp usr/local/LICENSE "$to/usr/share/doc/nodejs/copyright"
fi

cp -L etc/os-release etc/nsswitch.conf "$to/etc/"
echo 'root:x:0:0:root:/:/nonexistent
coursegate:x:65532:65532:coursegate:/var/lib/coursegate:/nonexistent' > "$to/etc/passwd"
echo 'root:x:0:
coursegate:x:65532:' > "$to/etc/group"
