#!/bin/sh
# Lists the packages of a Debian: name, version and licences, with tabs between them, of the licences
# with | between them, as its copyright file names them.
set -e
for package in $(dpkg-query --show --showformat '${Package}\n'); do
  version=$(dpkg-query --show --showformat '${Version}' "$package")
  file=/usr/share/doc/$package/copyright
  licences=
  [ ! -e "$file" ] || licences=$(sed -n 's/^License: *\(..*\)/\1/p' "$file" | sort -u | tr '\n' '|')
  printf '%s\t%s\t%s\n' "$package" "$version" "${licences%|}"
done
