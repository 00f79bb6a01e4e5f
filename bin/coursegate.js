#!/usr/bin/env node
// Plain JavaScript on purpose: an older Node must be able to read it far enough to say what it needs.
import './compile-cache.js';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The first release of Node 24 with long-term support. */
const NEEDED = [24, 11];
const sources = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const compiled = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));

// In a clone, dist is what was built last.
const isClone = existsSync(sources);
const main = isClone ? sources : compiled;
const [major, minor] = process.versions.node.split('.').map(Number);

if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  await import(main);
} else if (isClone && existsSync(pinned)) {
  const { status, signal } = spawnSync(pinned, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (signal !== null) process.kill(process.pid, signal);
  process.exit(status ?? 1);
} else {
  const advice = isClone
    ? 'In a clone, run npm ci: it installs its own Node.'
    : 'Install the current one: https://nodejs.org/en/download';
  console.error(`coursegate needs Node ${NEEDED.join('.')} or later; this is ${process.versions.node}. ${advice}`);
  process.exit(1);
}
