#!/bin/sh
# The direction of includes: model file -> graph -> plan -> backend -> kernels -> explanation, each room over those before it in its row.
# includes.sh ROOT fails on an include that points up, also between the folders of a room, on a room without a row, and on a row that nothing needs.
# A header of this project stands in quotes, so that no include is missed.
# It fails too on files that include each other in a circle, where a .c and its .h count as one, and on a guard that is not its header's path.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 ROOT"; exit 2; }
cd "$1"

# A room and what it may include, besides itself, heed/heed.h and its chapters: rooms or their folders as an include names them, or public headers. Tests may include all.
rooms='
runtime/include
runtime/base
runtime/graph     base
runtime/plan      base graph
runtime/backend   base graph plan
runtime/cpu       base graph plan backend
runtime/gpu       base graph plan backend params
runtime/model     base graph
runtime/sequences base graph model heed/sequences.h
runtime/explain   base graph backend
runtime/check     base graph model heed/check.h
runtime/onnx      base graph model/config/unknown_family.h model/files model/image/preprocess.h heed/onnx.h
runtime/pickle    base model/files heed/pickle.h
runtime/text      base model heed/tokenizer.h
runtime/demo      base heed/scene.h heed/scene_json.h
shaders/params
native/include
native/testing    heed/vulkan.h
native/vulkan     base graph plan backend gpu params heed/vulkan.h heed/vulkan_test.h
native/files      base model/files pickle/foreign.h pickle/kind.h heed/native.h heed/onnx.h heed/pickle.h
native/image      base late files pickle/kind.h pickle/zip.h heed/native.h
native/figure     base late explain/colour_rule.h files image heed/native.h
native/auto       base heed/native.h heed/vulkan.h
native/sandbox    base heed/native.h
native/late
native/cli        files/names.h files/os.h late/archive.h late/sqlite.h heed/check.h heed/native.h heed/onnx.h heed/sequences.h heed/tokenizer.h heed/scene.h heed/scene_json.h heed/vulkan.h heed/vulkan_test.h
native/demo       heed/scene.h
native/examples   heed/check.h heed/native.h heed/sequences.h
web/wasm          base graph cpu gpu model explain onnx/lower/lower.h onnx/vision/vision.h pickle/foreign.h heed/check.h heed/onnx.h heed/pickle.h heed/scene_json.h heed/tokenizer.h
'

# Rooms with folders: each folder may include those before it in its row, and files beside the folders all of them.
folders='
runtime/model     names families files config image vit
runtime/onnx      file evaluate lower vision
native/cli        terminal session help bench check convert demo run
native/vulkan     host plan measure run
'

guards=0
find runtime native web/wasm -name '*.h' ! -path '*/heed/*' -exec grep -H '^#ifndef HEED_[A-Z0-9_]*_H$' {} + | sort | awk -F '[: ]' '
  {
    wanted = $1
    sub(/^(runtime|native\/cli|native\/vulkan)\//, $1 ~ /^runtime/ ? "" : $1 ~ /cli/ ? "cli/" : "vulkan/", wanted)
    wanted = "HEED_" toupper(wanted)
    gsub(/[^A-Z0-9]/, "_", wanted)
    if ($3 != wanted) { print $1 ": another guard than its path (found " $3 ", expected " wanted ")"; failed = 1 }
  }
  END { exit failed }' >&2 || guards=1

find runtime native web/wasm shaders -name node_modules -prune -o -name '*.[ch]' -print | sort | xargs grep -n '^ *# *include *[<"]' /dev/null |
  ROOMS=$rooms FOLDERS=$folders awk '
  function complain(text) { print text; failed = 1 }
  function exists(path,  line, found) { found = (getline line < path) >= 0; close(path); return found }
  function module(path) { sub(/^[^\/]*\//, "", path); sub(/\.[ch]$/, "", path); return path }
  function file_folder(path) { sub(/[^\/]*$/, "", path); return path }
  function rank(room, folder) { return (room, folder) in place ? place[room, folder] : 99 }
  # What is left when modules that include nothing, or that nothing includes, are taken away again and again.
  function find_circles(  key, pair, out, into, taken) {
    do {
      split("", out); split("", into); taken = 0
      for (key in edge) { split(key, pair, SUBSEP); out[pair[1]] = into[pair[2]] = 1 }
      for (key in edge) {
        split(key, pair, SUBSEP)
        if (!(pair[2] in out) || !(pair[1] in into)) { delete edge[key]; taken = 1 }
      }
    } while (taken)
    for (key in edge) { split(key, pair, SUBSEP); complain(edge[key] ": in a circle of includes (found " pair[1] " to " pair[2] ")") }
  }
  BEGIN {
    count = split(ENVIRON["ROOMS"], lines, "\n")
    for (i = 1; i <= count; i++) {
      words = split(lines[i], word, " ")
      if (words == 0) continue
      row[word[1]] = lines[i]
      for (k = 2; k <= words; k++) may[word[1], word[k]] = 1
    }
    count = split(ENVIRON["FOLDERS"], lines, "\n")
    for (i = 1; i <= count; i++) {
      words = split(lines[i], word, " ")
      for (k = 2; k <= words; k++) place[word[1], word[k]] = k
    }
  }
  {
    split($0, part, ":")
    file = part[1]
    split(file, folder, "/")
    room = folder[1] "/" folder[2]
    seen[room] = 1
    header = $0
    sub(/^[^<"]*[<"]/, "", header)
    sub(/[>"].*/, "", header)
    where = file ":" part[2]
    if ($0 ~ /include *</) {
      if (exists("runtime/" header) || exists("native/" header))
        complain(where ": a header of this project stands in quotes (found <" header ">)")
      next
    }
    # A room whose folders are its path of includes, as the command has it.
    if (header ~ /\// && exists(room "/" header)) header = folder[2] "/" header
    from = module(file)
    to = header ~ /\// ? module("runtime/" header) : module(file_folder(file) header)
    if (from != to) edge[from, to] = where
    if (!(room in row)) { if (!told[room]++) complain(where ": the room has no row in tests/package/includes.sh (found " room ")"); next }
    if (header ~ /(^|\/)\.\.(\/|$)/) { complain(where ": an include climbs out of its folder (found " header ", expected ROOM/FILE)"); next }
    if (header == "heed/heed.h" && folder[1] == "runtime" && folder[2] !~ /^(include|demo)$/) complain(where ": the core includes chapters of heed/heed.h (found all)")
    if (header ~ /^heed\/(heed|base|graph|ops|model|session|explain)\.h$/ || header !~ /\//) next
    if (folder[2] == "include" && header ~ /^heed\//) next
    to = header
    sub(/\/.*/, "", to)
    split(header, step, "/")
    if (to == folder[2] && rank(room, step[2]) > rank(room, folder[3])) {
      complain(where ": an include points up (found " header ", expected a folder before " folder[3] ")")
      next
    }
    if (to == folder[2] || (room, to) in may || (room, to "/" step[2]) in may || (room, header) in may) next
    rest = row[room]
    sub(/^[^ ]+ */, "", rest)
    complain(where ": an include points up (found " header ", expected one of: " room ", heed/heed.h" (rest == "" ? "" : ", ") rest ")")
  }
  END {
    find_circles()
    if (NR == 0) complain("no include was found at all")
    for (room in row) if (!(room in seen)) complain("tests/package/includes.sh: a row that nothing needs (found " room ")")
    exit failed
  }' >&2
exit "$guards"
