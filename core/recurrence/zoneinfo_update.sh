#!/bin/sh
# Takes the time zone database of the Go toolchain in use, with its name. Run by go generate.
set -eu
from="$(go env GOROOT)/lib/time"
name="$(sed -n 's/^DATA=//p' "$from/update.bash")"
test -n "$name"
cp "$from/zoneinfo.zip" zoneinfo.zip
chmod 644 zoneinfo.zip
printf '%s %s\n' "$name" "$(sha256sum zoneinfo.zip | cut -d' ' -f1)" > zoneinfo.version
