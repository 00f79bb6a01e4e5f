# syntax=docker/dockerfile:1

# The image of the gate: Node, its production dependencies, its source, and nothing to install or build with.
#   docker build --tag coursegate:0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" .
# Pin the base by digest where you build: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The list is made of what is installed: `npm sbom --omit=dev` also leaves out what is both for production and for development.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --no-audit --no-fund --omit=dev --omit=optional \
    && npm pkg delete devDependencies \
    && npm sbom --sbom-format cyclonedx > /coursegate.cdx.json

# What runs it: the base without its package managers, and without files that make whoever runs them somebody else.
FROM ${NODE_IMAGE} AS system
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share /usr/local/bin/npm /usr/local/bin/npx \
      /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg /usr/local/bin/docker-entrypoint.sh /opt/yarn-* /root/.npm \
    && find / -xdev -type f -perm /6000 -exec chmod ug-s {} + \
    && mkdir -p /app /etc/coursegate /var/lib/coursegate \
    && chown 65532:65532 /var/lib/coursegate

# From nothing, so that what was removed is in no layer.
FROM scratch
COPY --from=system / /
WORKDIR /app
COPY --from=dependencies /coursegate.cdx.json /usr/share/sbom/coursegate.cdx.json
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY schema ./schema
COPY integrations ./integrations
COPY config ./config
COPY src ./src

ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="coursegate" \
      org.opencontainers.image.description="OAuth 2.0 access to an existing course site" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.licenses="MIT"

ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_ENV=production
USER 65532:65532
# The site, and nothing else: the admin listener stays on loopback.
EXPOSE 8080
# The embedded store. Everything else may be read-only.
VOLUME /var/lib/coursegate
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/src/main.ts"]
CMD ["serve", "--config", "/etc/coursegate/coursegate.yaml"]
HEALTHCHECK --interval=30s --timeout=10s --start-period=15s --retries=3 \
  CMD ["node", "/app/src/main.ts", "health", "--config", "/etc/coursegate/coursegate.yaml"]
