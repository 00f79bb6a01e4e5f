import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../support/missing.ts';
import { lacking, readLanguages } from './harness/catalogue.ts';
import { installsOver, undownloaded } from './harness/install.ts';
import { PAGE, readRows, render, rowsOf } from './harness/matrix.ts';
import { type Result, runClients } from './harness/run-clients.ts';

await installsOver();
const LANGUAGES = readLanguages();
const CLIENTS = LANGUAGES.flatMap((language) => language.clients.map((client) => ({ language, client })));
const ROWS = readRows();

/** In CI every toolchain that is present must have its packages, unless they could not be downloaded. */
const isMissing = ({ language, client }: (typeof CLIENTS)[number]) =>
  lacking(language, client) !== undefined &&
  !(process.env.CI && language.present && undownloaded(language) === undefined);

describe('the client matrix', () => {
  let results: Result[];
  beforeAll(async () => {
    for (const { language, client } of CLIENTS.filter(isMissing)) {
      missing(`${client.name}: ${lacking(language, client)}`, true);
    }
    results = await runClients(CLIENTS);
  }, 600_000);

  const rows = CLIENTS.map((one) => ({ ...one, name: one.client.name, skipped: isMissing(one) }));
  it.for(rows)('$name does what the page says', ({ client, language, skipped }, context) => {
    context.skip(skipped, lacking(language, client) ?? '');
    expect(lacking(language, client)).toBeUndefined();
    const mine = results.filter((result) => result.client === client);
    const unexpected = mine.filter(({ profile, outcome }) => !outcome.failure !== !client.fails[profile]);
    expect(unexpected.map(({ profile, outcome: { failure, output } }) => ({ profile, failure, output }))).toEqual([]);
    expect(ROWS.get(client.name)).toEqual(rowsOf(mine));
  });

  it('has a page that names these clients and no others', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(render(LANGUAGES, ROWS));
    expect([...ROWS.keys()].toSorted()).toEqual(CLIENTS.map(({ client }) => client.name).toSorted());
  });
});
