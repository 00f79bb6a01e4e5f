# syntax=docker/dockerfile:1

# The image of the gate: Node's program, the libraries that it loads, and the bundle. It has no shell and no package manager.
#   docker build --tag coursegate:0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" .
# Pin the base by digest where you build: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

# Commands run on the platform that builds, so that an image for another platform needs no emulation.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The date of the list of packages: seconds since 1970, such as the time of the commit.
ARG SOURCE_DATE_EPOCH=0
RUN npm run build -- --only bundle

# packaging/image/build.ts replaces this stage with a bundle that has been built already.
FROM scratch AS bundle
COPY --from=build /build/build/bundle /

FROM ${NODE_IMAGE} AS node

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS system
COPY packaging/image/system.sh /
RUN --mount=type=bind,from=node,target=/node sh /system.sh /node /system && mkdir /empty

FROM scratch
COPY --from=system /system /
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --chown=65532:65532 --from=system /empty /var/lib/coursegate
COPY --chmod=755 packaging/image/coursegate /usr/local/bin/coursegate
COPY --from=bundle / /app

ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="coursegate" \
      org.opencontainers.image.description="OAuth 2.0 access to an existing course site" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.licenses="MIT"

ENV PATH=/usr/local/bin NODE_ENV=production
USER 65532:65532
WORKDIR /var/lib/coursegate
# The site, and nothing else: the admin listener stays on loopback.
EXPOSE 8080
# The embedded store. Everything else may be read-only.
VOLUME /var/lib/coursegate
STOPSIGNAL SIGTERM
ENTRYPOINT ["coursegate"]
CMD ["serve", "--config", "/etc/coursegate/coursegate.yaml"]
HEALTHCHECK --interval=30s --timeout=10s --start-period=15s --retries=3 \
  CMD ["coursegate", "health", "--config", "/etc/coursegate/coursegate.yaml"]
