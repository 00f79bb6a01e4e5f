import type { Reporter, TestModule } from 'vitest/node';

/** Packages of Debian that a message asks for. */
const PACKAGES = /apt-get install (?:--no-install-recommends )?([a-z0-9][a-z0-9.+ -]*)/g;

/**
 * Ends a run with what was skipped because this machine lacks it (missing.ts), and the command that installs it.
 * @param print is called once with a few lines, and only when something was skipped
 */
export function skippedReporter(print: (text: string) => void): Reporter {
  const advice = new Set<string>();
  return {
    onUserConsoleLog({ content }) {
      for (const [, text = ''] of content.matchAll(/^SKIPPED: (.+)$/gm)) advice.add(text);
    },
    onTestRunEnd(modules) {
      if (advice.size > 0) print(`\n${summary(skippedIn(modules), [...advice])}\n`);
    },
  };
}

function skippedIn(modules: readonly TestModule[]): number {
  return modules.reduce((sum, module) => sum + [...module.children.allTests('skipped')].length, 0);
}

function summary(tests: number, advice: readonly string[]): string {
  const packages = new Set(
    advice.flatMap((one) => [...one.matchAll(PACKAGES)].flatMap(([, names = '']) => names.trim().split(' '))),
  );
  const others = advice.filter((one) => one.search(PACKAGES) < 0).length;
  return [
    `Skipped: ${tests} tests that need what this machine lacks.`,
    ...(packages.size === 0
      ? []
      : [
          'On Debian, this installs it (or .ci/run, which runs all tests after it):',
          `  apt-get install --no-install-recommends ${[...packages].toSorted().join(' ')}`,
        ]),
    ...(others === 0 ? [] : [`Lines above that begin with SKIPPED name ${others} things that Debian does not have.`]),
  ].join('\n');
}
