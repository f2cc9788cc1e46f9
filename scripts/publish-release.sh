#!/bin/sh
# Publishes a release with GitHub's command line: `publish-release.sh TAG FOLDER`. With DRY_RUN=1 prints the command only.
set -eu

tag=$1
folder=$2
(cd "$folder" && sha256sum --check --quiet SHA256SUMS)
run=
[ "${DRY_RUN:-}" != 1 ] || run=echo
$run gh release create "$tag" --verify-tag --title "Warpline ${tag#v}" --notes-file "$folder/release-notes.md" \
    "$folder"/warpline-*.tar.zst "$folder"/warpline-*.whl "$folder/SHA256SUMS" "$folder"/*.cdx.json
