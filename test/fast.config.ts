import { globSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

const { projects: _projects, ...complete } = config.test ?? {};

/** What needs nothing but Node, covers the contract's main paths, and is done within a minute on two cores. */
const INCLUDED = [
  'test/*.test.ts',
  'test/{account,config,events,http,oauth,resource-server}/**/*.test.ts',
  'test/flow/{main-job,challenges,protected-routes,own-record,authorization-request,token-*}.test.ts',
];

/** Thousands of random operations. */
const SLOW = ['test/account/monolith.test.ts'];

const ROOT = new URL('..', import.meta.url).pathname;

/** How many test files of which folders are left out, the folders with most first. */
function leftOut(): string {
  const included = new Set(globSync(INCLUDED, { cwd: ROOT, exclude: SLOW }));
  const folders = new Map<string, number>();
  for (const file of globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] })) {
    const folder = file.split('/')[1] ?? '';
    if (!included.has(file)) folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const most = [...folders].toSorted(([, a], [, b]) => b - a);
  const count = most.reduce((sum, [, files]) => sum + files, 0);
  return `Left out: ${count} test files (${most.map(([folder, files]) => `${folder} ${files}`).join(', ')}). npm test and npm run test:all run them.`;
}

/** `npm run test:fast`: what to run while you work. */
export default defineConfig({
  test: {
    ...complete,
    include: INCLUDED,
    exclude: SLOW,
    isolate: false,
    reporters: ['default', { onTestRunEnd: () => void process.stdout.write(`\n${leftOut()}\n`) }],
  },
});
