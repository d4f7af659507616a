#!/bin/sh
# Lists the installed packages of a Debian, one a line: name, version and licences, separated by
# tabs. The licences are those in its copyright file, separated by |.
set -e
for package in $(dpkg-query --show --showformat '${Package}\n'); do
  version=$(dpkg-query --show --showformat '${Version}' "$package")
  file=/usr/share/doc/$package/copyright
  licences=
  [ ! -e "$file" ] || licences=$(sed -n 's/^License: *\(..*\)/\1/p' "$file" | sort -u | tr '\n' '|')
  printf '%s\t%s\t%s\n' "$package" "$version" "${licences%|}"
done
