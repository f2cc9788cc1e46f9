# Warpline with everything that CUDA C++ needs: `docker build -t warpline .`, then
# `docker run --rm -v "$PWD":/work warpline profile app.cu`. The build argument TOOLKIT=0 leaves NVIDIA's headers out: they are under
# NVIDIA's licence, and an image that contains them may be published only as that licence permits.
# The images have their registry in their names, because Podman may know no registry to search.
FROM docker.io/library/rust:1-bookworm AS build
WORKDIR /source
COPY . .
# The release archive is what other machines get, too.
RUN scripts/dist.sh /dist archive && mkdir /release && \
    tar --extract --zstd --file /dist/warpline-*.tar.zst --directory /release --strip-components=1

FROM docker.io/library/debian:bookworm-slim AS warpline
# g++ gives host code its headers and linker, Python runs the copy of pip that fetches the toolkit's headers.
RUN apt-get update && apt-get install -y --no-install-recommends g++ python3 ca-certificates && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --create-home --uid 1000 warpline && install -d -o warpline -g warpline /work
COPY --from=build /release /opt/warpline
ENV PATH=/opt/warpline/bin:$PATH
# Also where the container runs under another user's number (`--user`), the cache can be read and written.
ENV XDG_CACHE_HOME=/var/cache/warpline
RUN install -d -m 1777 /var/cache/warpline
USER warpline
ARG TOOLKIT=1
RUN if [ "$TOOLKIT" = 1 ]; then warpline setup && chmod -R go+rwX /var/cache/warpline/warpline; fi
WORKDIR /work
ENTRYPOINT ["warpline"]
CMD ["--help"]
