#!/bin/sh
# includes_test.sh: what includes.sh says of a tree made up here, in which every rule is broken once.
set -eu
script=$(cd "$(dirname "$0")" && pwd)/includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/runtime/graph/ops" "$tree/runtime/attic" "$tree/native/files" "$tree/native/vulkan/plan" "$tree/web/wasm" "$tree/shaders"
printf '#include "heed/graph.h"\n#include "base/status.h"\n#include "graph/op.h"\n#include "model/vit/role.h"\n' >"$tree/runtime/graph/ops/add.c"
echo '#include "base/status.h"' >"$tree/runtime/attic/old.c"
echo '#include "../cli/cli.h"' >"$tree/native/files/output.c"
printf '#include "vulkan/plan/commands.h"\n#include "vulkan/host/device.h"\n#include "vulkan/run/backend.h"\n' >"$tree/native/vulkan/plan/commands.c"
mkdir -p "$tree/runtime/base"
echo '#include "base/b.h"' >"$tree/runtime/base/a.c"
echo '#include "base/c.h"' >"$tree/runtime/base/b.h"
echo '#include "heed/heed.h"' >"$tree/runtime/base/whole.c"
printf '#include <base/b.h>\n#include <string.h>\n' >"$tree/runtime/base/d.c"
printf '#include "base/a.h"\n#include "base/d.h"\n' >"$tree/runtime/base/c.c"
printf '#ifndef HEED_BASE_OLD_H\n#define HEED_BASE_OLD_H\n#endif\n' >"$tree/runtime/base/new.h"

status=0
said=$(sh "$script" "$tree" 2>&1) || status=$?
[ "$status" -eq 1 ] || { echo "exit code $status, expected 1: $said"; exit 1; }
expect() {
  case $said in *"$1"*) ;; *) echo "does not say \"$1\": $said"; exit 1 ;; esac
}
expect 'runtime/graph/ops/add.c:4: an include points up (found model/vit/role.h, expected one of: runtime/graph, heed/heed.h, base)'
expect 'runtime/attic/old.c:1: the room has no row in tests/package/includes.sh (found runtime/attic)'
expect 'runtime/base/whole.c:1: the core includes chapters of heed/heed.h (found all)'
expect 'native/files/output.c:1: an include climbs out of its folder (found ../cli/cli.h, expected ROOM/FILE)'
expect 'runtime/base/a.c:1: in a circle of includes (found base/a to base/b)'
expect 'runtime/base/c.c:1: in a circle of includes (found base/c to base/a)'
expect 'a row that nothing needs (found runtime/plan)'
expect 'runtime/base/d.c:1: a header of this project stands in quotes (found <base/b.h>)'
expect 'runtime/base/new.h: another guard than its path (found HEED_BASE_OLD_H, expected HEED_BASE_NEW_H)'
expect 'native/vulkan/plan/commands.c:3: an include points up (found vulkan/run/backend.h, expected a folder before plan)'
case $said in *"base/d to"* | *"to base/d"* | *d.c:2:*) echo "complains of a file outside the circle: $said"; exit 1 ;; esac
case $said in *commands.c:[12]:*) echo "complains of a folder that points down: $said"; exit 1 ;; esac
case $said in *add.c:[123]:*) echo "complains of an include that points down: $said"; exit 1 ;; esac
