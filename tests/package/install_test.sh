#!/bin/sh
# install_test.sh ROOT: what is packaged agrees with CMakeLists.txt, which alone defines the version and the options.
#   1 each recipe names the version                    3 docs/install.md has a row for each option, component and part of a release
#   2 each option in a recipe is one of CMakeLists     4 the bill of the libraries inside a release names what the script builds
#   5 the workflow installs what the parts of a release ask for
set -eu
cd "$1"
found=0
wrong() {
  found=$((found + 1))
  printf '%s\n' "$*"
}

recipes=native/packaging
version=$(sed -n 's/^project(heed VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ -n "$version" ] || { echo "CMakeLists.txt: no version was found"; exit 1; }

names_version() { # file, the expression around the version
  said=$(sed -n "s/$2/\\1/p" "$1" | sort -u | tr '\n' ' ')
  [ "$said" = "$version " ] || wrong "$1: another version (found ${said:-none}, expected $version, as in CMakeLists.txt)"
}
names_version CITATION.cff '^version: \(.*\)'
names_version web/package.json '^  "version": "\(.*\)",'
names_version $recipes/conda/recipe.yaml '^  version: \([0-9].*\)'
names_version $recipes/debian/changelog '^heed (\(.*\)-[0-9]*) .*'
names_version $recipes/homebrew/heed.rb '^  url .*\/heed-\(.*\)\.tar\.gz"'
names_version $recipes/nix/default.nix '^  version = "\(.*\)";'
names_version $recipes/vcpkg/vcpkg.json '^  "version": "\(.*\)",'

options=$(sed -n 's/^ *option(\([A-Z_]*\) .*/\1/p; s/^set(\([A-Z_]*\) .* CACHE STRING ".*/\1/p' CMakeLists.txt)
[ "$(echo "$options" | wc -w)" -ge 10 ] || wrong "CMakeLists.txt: too few options were found ($options)"
used=$(grep -rhoE -e '-D(HEED|BUILD)_[A-Z_]+' $recipes docs/install.md | sort -u | sed 's/^-D//')
for option in $used; do
  case $option in HEED_GLSLANG | HEED_SPIRV_VAL | HEED_PROCESSOR | HEED_MACHINE_ROOT | HEED_SPECS | HEED_INSIDE | HEED_WEB_PACKAGE) continue ;; esac
  echo "$options" | grep -qx "$option" || wrong "a recipe or docs/install.md: unknown option (found $option)"
done
components=$(grep -oE 'COMPONENT [a-z]+' runtime/package/install.cmake | sed 's/.* //' | sort -u)
parts=$(sed -n "s/^all='\(.*\)'/\1/p" $recipes/release.sh)
for word in $options $components $parts; do
  grep -qE "^\| .*\`$word\`" docs/install.md || wrong "docs/install.md: no row of a table has $word"
done

for library in $(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' $recipes/libraries.txt); do
  grep -qE "^  *(by_(cmake|configure) ${library}[ /]|build_${library}\$)" $recipes/libraries.sh || wrong "$recipes/libraries.sh: does not build $library of libraries.txt"
  grep -qE "^set\(licence_${library} " runtime/package/sbom.cmake || wrong "runtime/package/sbom.cmake: no licence of $library in libraries.txt"
done

installed=" $(sed -n '/apt-get install/,/^ *- /p' .github/workflows/release.yml | tr '\n' ' ') "
packages=$(awk '/^ *need [a-z"]/ { on = 1 } on { print } !/\\$/ { on = 0 }' $recipes/release.sh | grep -oE '[a-zA-Z0-9_-]+=[a-z0-9-]+' | sed 's/.*=//')
[ "$(echo "$packages" | wc -w)" -ge 10 ] || wrong "$recipes/release.sh: too few packages were found ($packages)"
modules=$(sed -n 's/.*(Debian: \(python3[^)]*\)).*/\1/p' $recipes/release.sh)
for package in $packages $modules; do
  case $package in apt | gcc-) continue ;; esac # of every Debian; and a name that the script makes
  case $installed in *" $package "*) ;; *) wrong ".github/workflows/release.yml: does not install $package, which $recipes/release.sh asks for" ;; esac
done
[ "$found" -eq 0 ]
