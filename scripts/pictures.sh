#!/bin/sh
# Makes the picture of the report's page that the README shows, from an example: scripts/pictures.sh [WARPLINE]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
warpline=$(realpath "${1:-$root/target/release/warpline}")
for browser in chromium chromium-browser google-chrome ''; do
    [ -n "$browser" ] || { echo "pictures: a browser is missing; run scripts/setup.sh --tests" >&2; exit 6; }
    if command -v "$browser" >/dev/null 2>&1; then break; fi
done

# The page shows where the source lies, so that is the same on every machine.
folder=/tmp/warpline-example
rm -rf "$folder"
mkdir -p "$folder/browser"
trap 'rm -rf "$folder"' EXIT INT TERM
cp -r "$root/examples/common" "$root/examples/bfs" "$folder"
cd "$folder"
"$warpline" profile bfs/bfs.cu --gpu rtx2080ti,a100 >/dev/null
"$warpline" report warpline.bfs.wlprof --format html -o bfs.html
mkdir -p "$root/docs/pictures"
"$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/browser" \
    --window-size=1360,700 --virtual-time-budget=4000 --screenshot="$root/docs/pictures/source.png" \
    "file://$folder/bfs.html#/source/bfs.cu:33" >/dev/null 2>&1
echo "wrote docs/pictures/source.png ($(wc -c <"$root/docs/pictures/source.png") bytes)"
