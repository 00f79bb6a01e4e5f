#!/usr/bin/env node
// Plain JavaScript on purpose: an older Node must be able to read it far enough to say what it needs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= NEEDED) {
  await import(main);
} else if (existsSync(pinned)) {
  const { status, signal } = spawnSync(pinned, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (signal !== null) process.kill(process.pid, signal);
  process.exit(status ?? 1);
} else {
  console.error(
    `coursegate needs Node ${NEEDED}; this is ${process.versions.node}. In a checkout, run npm ci: it brings its own.`,
  );
  process.exit(1);
}
