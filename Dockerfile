# The image of compose.yaml: gateway, engine, broker and commands, set up as packages are.
# WINNOW_COMPUTE=cuda makes the one for NVIDIA's GPUs.

FROM node:24-trixie-slim AS base

FROM base AS build
ARG WINNOW_COMPUTE=cpu
WORKDIR /usr/lib/winnow
COPY scripts/tools/package/debian-packages.sh /tmp/
# The list comes first: the image has none of the compilers.
RUN sh /tmp/debian-packages.sh > /tmp/debian-packages \
  && apt-get update \
  && apt-get install --yes --no-install-recommends g++ make python3 python3-pip
COPY . .
RUN --mount=type=cache,target=/root/.cache --mount=type=cache,target=/root/.npm \
  node scripts/setup/setup.mjs \
  && node --import tsx scripts/tools/package/image.ts /installation /tmp/debian-packages

FROM base
RUN useradd --system --home-dir /var/lib/winnow --shell /usr/sbin/nologin winnow \
  && install --directory --owner=winnow --group=winnow --mode=700 \
    /var/lib/winnow /var/cache/winnow /run/winnow \
    /run/winnow/broker /run/winnow/engine /run/winnow/gateway \
  && printf '#!/bin/sh\nexec node /usr/lib/winnow/winnow.mjs "$@"\n' > /usr/bin/winnow \
  && chmod 755 /usr/bin/winnow
COPY --from=build /installation /usr/lib/winnow
ENV DATA_DIR=/var/lib/winnow \
  WINNOW_CACHE_DIR=/var/cache/winnow \
  CUDA_CACHE_PATH=/var/cache/winnow/cuda \
  HOST=0.0.0.0 \
  GRPC_HOST=0.0.0.0 \
  METRICS_HOST=0.0.0.0 \
  ADMIN_HOST=0.0.0.0 \
  PUBLIC_URL=http://127.0.0.1:8080 \
  MEDIA_URL=http://127.0.0.1:8080 \
  NVIDIA_VISIBLE_DEVICES=all \
  NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER winnow
WORKDIR /var/lib/winnow
EXPOSE 8080 8081 9080 9081
HEALTHCHECK --start-period=120s --timeout=10s CMD ["node", "--eval", \
  "const { PORT = 8080 } = process.env; \
  fetch(`http://127.0.0.1:${PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1))"]
ENTRYPOINT ["winnow"]
CMD ["start"]
