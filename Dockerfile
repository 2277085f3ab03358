# One image for every part: docker run IMAGE worker | api | migrate | doctor
FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node dev/bootstrap.mjs build && npm prune --omit=dev --no-audit --no-fund

FROM node:20-slim
# Roots of trust for TLS to Temporal and to the systems that effects call.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/examples/booking ./examples/booking
COPY --from=build /app/holdfast.toml ./
USER node
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["worker"]
