#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# sysroot.sh FOLDER: Debian's libraries for aarch64 that posenc needs, laid into FOLDER, and
# FOLDER/root.ini, which tells Meson where they are. apt works in a state of its own there, so that nothing
# of it touches the machine's packages; root is not needed.
set -eu
mkdir -p "$1"
cd "$1"
root=$PWD
mkdir -p apt/lists/partial apt/archives/partial usr/lib
: >apt/status
cat >apt/apt.conf <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "$root/apt";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt";
END
export APT_CONFIG="$root/apt/apt.conf"
apt-get update -qq
apt-get install -qq -y --download-only libc6-dev libstdc++-12-dev liblapacke-dev libopenblas-dev libsuitesparse-dev \
	libarpack2-dev libdeflate-dev zlib1g-dev libpng-dev libjpeg-dev libwebp-dev libexpat1-dev libjansson-dev libb2-dev \
	libcairo2-dev libcmocka-dev

# As on a machine, where /lib is /usr/lib.
[ -e lib ] || ln -s usr/lib lib
for package in apt/archives/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink; done
# What installing would have chosen among alternatives.
(cd usr/include/aarch64-linux-gnu && ln -sf openblas-pthread/*.h .)
(cd usr/lib/aarch64-linux-gnu && ln -sf openblas-pthread/lib*.so* .)
# Links meant for the root of a machine.
cd "$root"
find . -type l -lname '/*' -print | while read -r link; do ln -sfr "$root$(readlink "$link")" "$link"; done
rm -rf apt
printf "[constants]\nroot = '%s'\n" "$root" >root.ini
