import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { failedFilesReporter } from './support/failed-files.ts';
import { skippedReporter } from './support/skipped.ts';

/** Files that are short and take long, because what they run is elsewhere, in the order in which they start. */
const LONG = [
  /\/test\/(?:packaging|image|clients|integrations|model|site|soak)\//,
  /\/test\/faults\/|\/with-undici\.test\.ts$/,
];

/** Largest files first, as usual, but those of LONG before them, so that none of them is the last one running. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => turn(a) - turn(b));
  }
}

function turn({ moduleId, project }: TestSpecification): number {
  const at = LONG.findIndex((files) => files.test(moduleId));
  if (at !== -1) return at;
  return project.config.isolate ? LONG.length : LONG.length + 1;
}

const ROOT = new URL('..', import.meta.url).pathname;

/**
 * What installs or builds other people's packages, runs whole frameworks, searches a model, or breaks processes and disks
 * for minutes: `npm run test:all`. Everything else is `npm test`.
 */
const SLOW = [
  'test/{clients,faults,helm,image,integrations,model,packaging,site,soak}/**/*.test.ts',
  // Minutes on both cores.
  'test/simulation/schedules.test.ts',
  // Installs the libraries of test/clients in three languages.
  'test/docs/programs.test.ts',
  // Starts the simulation once for each planted bug.
  'test/simulation/planted-bugs-found.test.ts',
  // Moves a school from each kind of store to the next, between processes.
  'test/process/schools/move.test.ts',
];
const ALL = 'test/**/*.test.ts';

/**
 * Each of these has a process of its own: what other files left in it would count. They measure memory, CPU time or what
 * keeps a process alive, stop the event loop, open thousands of connections, or set what modules read when they are loaded.
 */
const OWN_PROCESS = [
  'test/bench/*.test.ts',
  'test/flow/{open-streams,reload-leaks,slow-clients}.test.ts',
  'test/fuzz/*.test.ts',
  'test/login/whoami.test.ts',
  'test/mcp/interleaved.test.ts',
  'test/operator/doctor/hostile.test.ts',
  'test/operator/setup/init.test.ts',
  'test/storage/{bounded,counters}.test.ts',
  'test/survival/{event-loop,exhaustion}.test.ts',
  'test/upstream/{identity,with-undici}.test.ts',
];

export default defineConfig({
  test: {
    root: ROOT,
    // Hundreds of gates are started as processes. With compiled code on disk, each needs half the time.
    env: { NODE_COMPILE_CACHE: `${ROOT}node_modules/.cache/compiled` },
    projects: [
      {
        extends: true,
        test: {
          name: 'test',
          include: [ALL],
          exclude: [...configDefaults.exclude, ...SLOW, ...OWN_PROCESS],
          // A new process for each file would load the gate again and run it cold, which costs a third more CPU time. So
          // a file undoes what it changes in its process: environment variables, timers, globals.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'test:own-process', include: OWN_PROCESS } },
      { extends: true, test: { name: 'test:all', include: SLOW } },
    ],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', skippedReporter((text) => void process.stdout.write(text)), failedFilesReporter],
    // When a test hangs, not when it is slow: two workers share the machine with browsers, databases and whole frameworks,
    // and the machine may be four times slower than usual.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // One second by default, which a browser that starts to work needs for itself.
    expect: { poll: { timeout: 30_000 } },
  },
});
