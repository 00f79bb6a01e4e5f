/**
 * Writes test/model/traces.txt, and from it the picture in docs/proof.md: `node test/tooling/write-traces.ts`. Traces that the model
 * still allows are kept, and those that are missing are looked for, which takes up to an hour. Needs Java and Maven.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { analyse, hasAlloy } from '../model/alloy.ts';
import {
  covered,
  exportChanges,
  exportOvertaken,
  exportScene,
  exportSituations,
  SCENES,
  without,
} from '../model/export-traces.ts';
import { PROOF, withPicture } from '../model/family-picture.ts';
import { committedTraces, digestOfModel, modelFiles, promises, TRACES_FILE, tracesText } from '../model/model-files.ts';
import type { Trace } from '../model/trace.ts';
import { traceCommands } from '../model/trace-command.ts';

const save = (traces: readonly Trace[]) => {
  writeFileSync(TRACES_FILE, tracesText(traces));
};

if (!hasAlloy()) throw new Error('Alloy cannot be run here');
const files = modelFiles();
const { traces: old, digest } = existsSync(TRACES_FILE) ? committedTraces() : { traces: [], digest: '' };
let kept: readonly Trace[] = old;
if (digest !== digestOfModel()) {
  const results = await analyse({ ...files, 'promises.als': traceCommands(old) });
  kept = old.filter((_, at) => results[at]?.found === true);
  console.info(`${kept.length} of ${old.length} traces are still possible`);
}
const all: Trace[] = [];
for (const scene of SCENES) {
  const own = kept.filter((trace) => trace.scene === scene.name);
  const known = new Set(own.flatMap(covered));
  const found = await exportScene(files, scene, known, (line, traces) => {
    console.info(line);
    save([...all, ...own, ...traces, ...kept.filter((trace) => trace.scene !== scene.name && !all.includes(trace))]);
  });
  all.push(...without([...own, ...found]));
}
const named = new Set(SCENES.map(({ name }) => name));
const situations = kept.filter(({ scene }) => !named.has(scene));
all.push(...situations);
if (situations.length === 0) {
  all.push(...(await exportSituations({ ...files, 'promises.als': promises() })), ...(await exportOvertaken(files)));
}
all.push(...(await exportChanges(files, all)));
save(all);
writeFileSync(PROOF, withPicture(readFileSync(PROOF, 'utf8'), all));
