import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Reporter } from 'vitest/node';

/** Where a run leaves the paths of the test files that failed in it, as a JSON array. Absent if the run did not end. */
export const FAILED_FILES = new URL('../../node_modules/.cache/failed-test-files.json', import.meta.url).pathname;

/** Leaves the failed files, for run-failed-again.ts. An error outside all tests leaves no file. */
export const failedFilesReporter: Reporter = {
  onTestRunStart() {
    rmSync(FAILED_FILES, { force: true });
  },
  onTestRunEnd(modules, errors) {
    if (errors.length > 0) return;
    mkdirSync(dirname(FAILED_FILES), { recursive: true });
    writeFileSync(FAILED_FILES, JSON.stringify(modules.filter((one) => !one.ok()).map(({ moduleId }) => moduleId)));
  },
};
