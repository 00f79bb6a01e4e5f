#!/usr/bin/env bash
# Installs OpenTelemetry beside the project, which does not depend on it, and runs the test of the two together.
set -euo pipefail
cd "$(dirname "$0")/../.."
beside=${TMPDIR:-/tmp}/coursegate-open-telemetry
mkdir -p "$beside"
(cd "$beside" && { [ -e package.json ] || echo '{"private":true}' >package.json; } &&
  npm install --silent --no-audit --no-fund --save-exact @opentelemetry/api@1.10.0 @opentelemetry/auto-instrumentations-node@0.82.0)
COURSEGATE_OTEL_MODULES="$beside/node_modules" vitest run --config test/vitest.config.ts test/flow/open-telemetry.test.ts
