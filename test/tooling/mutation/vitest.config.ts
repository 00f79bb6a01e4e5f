import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestModule, type TestSpecification } from 'vitest/node';
import config from '../../vitest.config.ts';

const { projects: _projects, ...complete } = config.test ?? {};

/** The test files to run, in this order. */
const tests = JSON.parse(process.env.COURSEGATE_MUTATION_TESTS ?? '[]') as readonly string[];

class AsRanked extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => tests.findIndex((test) => moduleId.endsWith(`/${test}`));
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

/** Prints a line for each finished test file, which the runner reads. */
const reporter = {
  onTestModuleEnd(module: TestModule) {
    const file = tests.find((test) => module.moduleId.endsWith(`/${test}`));
    process.stdout.write(`\n@ ${module.state()} ${file}\n`);
  },
};

export default defineConfig({
  test: {
    ...complete,
    include: [...tests],
    maxWorkers: 1,
    bail: 1,
    sequence: { sequencer: AsRanked },
    reporters: [reporter],
    silent: true,
  },
});
