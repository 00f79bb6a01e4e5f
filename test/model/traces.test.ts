import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyse, hasAlloy } from './alloy.ts';
import { covered } from './export-traces.ts';
import { PROOF, withPicture } from './family-picture.ts';
import { committedTraces, digestOfModel, modelFiles, tracesText } from './model-files.ts';
import { traceCommands } from './trace-command.ts';

const { text, traces, digest } = committedTraces();
const LONG = 900_000;

describe('the traces of the model', () => {
  it('are those of the present model', () => {
    expect(digest, 'the model was changed: node test/tooling/write-traces.ts').toBe(digestOfModel());
  });

  it('are written as they are read', () => expect(tracesText(traces)).toBe(text));

  it('have every event of the model', () => {
    const [, events = ''] = /enum Event \{([^}]*)\}/.exec(modelFiles()['traces.als'] ?? '') ?? [];
    const names = events.split(',').map((name) => name.trim());
    expect([...new Set(traces.flatMap(({ steps }) => steps.map(({ event }) => event))), 'Rest'].toSorted()).toEqual(
      names.toSorted(),
    );
  });

  it('are as many as docs/proof.md says', () => {
    const [, counted, events, pairs] =
      /(\d+) traces with\s(\d+) events and (\d+) different\spairs/.exec(readFileSync(PROOF, 'utf8')) ?? [];
    expect([counted, events, pairs].map(Number)).toEqual([
      traces.length,
      traces.reduce((sum, { steps }) => sum + steps.length, 0),
      new Set(traces.flatMap(covered)).size,
    ]);
  });

  it('show the picture in docs/proof.md', () => {
    const page = readFileSync(PROOF, 'utf8');
    expect(withPicture(page, traces), 'node test/tooling/write-traces.ts').toBe(page);
  });

  describe.skipIf(!hasAlloy())('in Alloy', () => {
    // All of them are checked when they are written, which takes as long.
    const some = traces.filter((_, at) => at % 25 === 0);

    it('are possible', { timeout: LONG }, async () => {
      const results = await analyse({ ...modelFiles(), 'promises.als': traceCommands(some) });
      expect(results.filter(({ found }) => !found)).toEqual([]);
    });

    it('are not possible with another state after an event', { timeout: LONG }, async () => {
      const [first] = some;
      const steps = first?.steps.map((step, at) => (at === 0 ? { ...step, state: first.start } : step)) ?? [];
      const changed = first === undefined ? [] : [{ ...first, steps }];
      expect(await analyse({ ...modelFiles(), 'promises.als': traceCommands(changed) })).toMatchObject([
        { found: false },
      ]);
    });
  });
});
