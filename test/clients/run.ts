/** Runs the client programs, and writes docs/clients/matrix.md. README.md says how. `npm run test:clients` */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Client, type Language, lacking, readLanguages } from './harness/catalogue.ts';
import { install, whileInstalling } from './harness/install.ts';
import { PAGE, readRows, render, rowsOf } from './harness/matrix.ts';
import { type Result, runClients } from './harness/run-clients.ts';

const options = process.argv.slice(2);
const names = options.filter((option) => !option.startsWith('--'));
const languages = readLanguages();
const chosen = choose(languages, names);
if (options.some((option) => option.startsWith('--install'))) {
  const present = [...new Set(chosen.map(({ language }) => language))].filter((one) => one.present);
  await whileInstalling(() => installAll(present));
}
if (options.includes('--install-only')) process.exit();

for (const { language, client } of chosen) {
  const reason = lacking(language, client);
  if (reason !== undefined) print(`skipped  ${language.folder}: ${client.name}: ${reason}`);
}
const results = await runClients(chosen, reportResult);
writePage(results);
const failed = results.filter(isUnexpected);
print(`${results.length} runs, ${failed.length} not as expected`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** The clients of a language or with a name that the arguments have; all without arguments. */
function choose(from: readonly Language[], wanted: readonly string[]): { language: Language; client: Client }[] {
  const matches = (name: string, text: string) => name.toLowerCase().includes(text.toLowerCase());
  const found = from.flatMap((language) =>
    language.clients
      .filter(({ name }) => wanted.length === 0 || wanted.some((one) => one === language.folder || matches(name, one)))
      .map((client) => ({ language, client })),
  );
  if (found.length === 0) throw new RangeError(`no client or language is called ${wanted.join(' or ')}`);
  return found;
}

/** Two languages at a time: an install is busy with the network or with the processor, in turn. */
async function installAll(which: readonly Language[]): Promise<void> {
  const left = [...which];
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const began = performance.now();
      const unreachable = await install(next);
      const took = `${Math.round((performance.now() - began) / 1000)} s`;
      if (unreachable === undefined) print(`installed  ${next.language}, in ${took}`);
      else print(`NOT INSTALLED  ${next.language}, its clients are skipped: ${unreachable}`);
    }
  };
  await Promise.all([lane(), lane()]);
}

function reportResult(result: Result): void {
  const { language, client, profile, outcome } = result;
  const state = outcome.failure === undefined ? 'works   ' : 'fails   ';
  print(
    `${state} ${language.folder}: ${client.name}, profile ${profile}: ${outcome.failure ?? outcome.steps.join(', ')}`,
  );
  if (isUnexpected(result)) print(outcome.output.replace(/^/gm, '    '));
}

function isUnexpected({ client, profile, outcome }: Result): boolean {
  return (outcome.failure !== undefined) !== (client.fails[profile] !== undefined);
}

/** Keeps the rows of clients that did not run. */
function writePage(all: readonly Result[]): void {
  const rows = readRows();
  for (const [, mine] of Map.groupBy(all, ({ client }) => client)) {
    const [first] = mine;
    if (first !== undefined) rows.set(first.client.name, rowsOf(mine));
  }
  mkdirSync(dirname(PAGE), { recursive: true });
  writeFileSync(PAGE, render(languages, rows));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
