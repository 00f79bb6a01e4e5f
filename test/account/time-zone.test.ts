import { afterEach, describe, expect, test } from 'vitest';
import { instantOf } from '../../src/account/connect/zoned-time.ts';
import { formatProblem } from '../../src/config/problems.ts';
import { checkInterfaces } from '../../src/generation/interfaces.ts';
import { load } from '../config/fixture.ts';
import { type MappedService, mapService } from './support/service.ts';

let service: MappedService | undefined;
afterEach(() => service?.close());

/** Reads a local time as the mapping does, through the API. */
async function read(at: unknown, method: string, timeZone?: string): Promise<unknown> {
  service = await mapService(
    'type Viewer { id: ID!  at: DateTime }\nscalar DateTime',
    `extend type Viewer { at: DateTime @connect(source: "school", http: { GET: "/me" }, selection: "$.at->${method}") }`,
    () => ({ json: { at } }),
    { timeZone },
  );
  const { body } = await service.ask('{ viewer { at } }');
  await service.close();
  service = undefined;
  return body.data.viewer.at;
}

describe('a time without an offset', () => {
  test.each<[at: string, method: string, timeZone: string | undefined, out: string | null]>([
    ['2026-01-15 18:00:00', "toDateTime('sql')", 'America/New_York', '2026-01-15T23:00:00Z'],
    ['2026-07-15 18:00:00', "toDateTime('sql')", 'America/New_York', '2026-07-15T22:00:00Z'],
    ['2026-07-15T18:00:00', "toDateTime('sql')", 'Asia/Kolkata', '2026-07-15T12:30:00Z'],
    ['2026-07-15T18:00', "toDateTime('iso')", 'Asia/Kolkata', '2026-07-15T12:30:00Z'],
    ['2026-07-15T18:00:00.123456', "toDateTime('iso')", 'America/New_York', '2026-07-15T22:00:00Z'],
    ['2026-07-15T18:00:00+02:00', "toDateTime('iso')", 'America/New_York', '2026-07-15T16:00:00Z'],
    ['2026-07-15 18:00:00', "toDateTime('sql', 'Europe/Madrid')", 'America/New_York', '2026-07-15T16:00:00Z'],
    ['2026-07-15 18:00:00', "toDateTime('sql_utc')", 'America/New_York', '2026-07-15T18:00:00Z'],
    ['2026-07-15 18:00:00', "toDateTime('sql')", undefined, '2026-07-15T18:00:00Z'],
    ['2026-07-15', "toDateTime('sql')", 'America/New_York', '2026-07-15T04:00:00Z'],
    ['2026-07-15', "toDateTime('iso')", 'Pacific/Auckland', '2026-07-14T12:00:00Z'],
    ['0000-00-00 00:00:00', "toDateTime('sql')", 'America/New_York', null],
  ])('%s with %s in %s is %s', async (at, method, timeZone, out) => {
    expect(await read(at, method, timeZone)).toBe(out);
  });

  const HOUR = 3_600_000;
  const at = (local: string, timeZone: string) =>
    new Date(instantOf(Date.parse(`${local}Z`), timeZone)).toISOString().slice(0, 19);

  test.each([
    // Clocks are put forward: the times between do not occur.
    ['2026-03-08T01:59:59', 'America/New_York', '2026-03-08T06:59:59'],
    ['2026-03-08T02:30:00', 'America/New_York', '2026-03-08T07:30:00'],
    ['2026-03-08T03:00:00', 'America/New_York', '2026-03-08T07:00:00'],
    ['2026-03-29T02:30:00', 'Europe/Madrid', '2026-03-29T01:30:00'],
    // Clocks are put back: the first of the two.
    ['2026-11-01T00:59:59', 'America/New_York', '2026-11-01T04:59:59'],
    ['2026-11-01T01:30:00', 'America/New_York', '2026-11-01T05:30:00'],
    ['2026-11-01T02:00:00', 'America/New_York', '2026-11-01T07:00:00'],
    ['2026-10-25T02:30:00', 'Europe/Madrid', '2026-10-25T00:30:00'],
    // By half an hour
    ['2026-10-04T02:15:00', 'Australia/Lord_Howe', '2026-10-03T15:45:00'],
    ['2026-04-05T01:45:00', 'Australia/Lord_Howe', '2026-04-04T14:45:00'],
    // At midnight, and by a whole day
    ['2018-11-04T00:00:00', 'America/Sao_Paulo', '2018-11-04T03:00:00'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-30T22:00:00'],
    // Before there were zones
    ['1883-01-01T00:00:00', 'America/New_York', '1883-01-01T04:56:02'],
  ])('%s in %s is %s, also around a change of the clocks', (local, timeZone, out) => {
    expect(at(local, timeZone)).toBe(out);
  });

  test.each([
    ['America/New_York', '2026-03-07', '2026-03-10'],
    ['America/New_York', '2026-10-31', '2026-11-03'],
    ['Australia/Lord_Howe', '2026-04-03', '2026-04-06'],
    ['Australia/Lord_Howe', '2026-10-03', '2026-10-06'],
  ])('in %s is what clocks show, for every quarter of an hour from %s to %s', (timeZone, from, to) => {
    const clock = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    for (let instant = Date.parse(from); instant < Date.parse(to); instant += HOUR / 4) {
      const shown = clock.format(instant).replace(' ', 'T');
      const read = instantOf(Date.parse(`${shown}Z`), timeZone);
      expect(clock.format(read).replace(' ', 'T')).toBe(shown);
      // The second of two equal times is read as the first.
      expect(instant - read).toBeGreaterThanOrEqual(0);
      expect(instant - read).toBeLessThanOrEqual(HOUR);
    }
  });
});

const GATE = `version: 1
profile: A
origin: http://localhost:8080
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: /login, cookies: [s] }
store: { kind: memory }
site: { upstream: school }
upstreams: { school: { url: "http://127.0.0.1:9" } }
account: { schema: contract.graphql, mappings: map.graphql }
`;
const CONTRACT = `scalar DateTime
type Query { viewer: Viewer! }
type Viewer { id: ID!  at: DateTime }
`;
const map = (path: string, method: string, key = 'date_created') => `extend schema @source(name: "school")
extend type Viewer {
  at: DateTime
    @connect(
      source: "school"
      http: { GET: "${path}" }
      selection: """
      $.data.${key}->${method}
      """
    )
}
`;

async function check(mapping: string, timeZone = ''): Promise<readonly string[]> {
  const loaded = await load(GATE + timeZone, { files: { 'contract.graphql': CONTRACT, 'map.graphql': mapping } });
  return (await checkInterfaces(loaded)).map((problem) => formatProblem(problem, 'warning: '));
}

describe('check warns where a mapping', () => {
  const ZONE = 'timeZone: America/New_York\n';

  test('reads local times and no time zone is set', async () => {
    expect(await check(map('/me', 'toDateTime("sql")'))).toEqual([
      expect.stringMatching(/^map\.graphql:8:26 {2}warning: Viewer\.at: reads local times as UTC, because /),
    ]);
    expect(await check(map('/me', 'toDateTime("sql")'), ZONE)).toEqual([]);
    expect(await check(map('/me', 'toDateTime("sql")'), 'timeZone: UTC\n')).toEqual([]);
    expect(await check(map('/me', 'toDateTime("sql", "Asia/Kolkata")'))).toEqual([]);
  });

  test('reads as UTC what WordPress writes in local time', async () => {
    expect(await check(map('/wp-json/llms/v1/enrollments', 'toDateTime("sql_utc")'), ZONE)).toEqual([
      expect.stringMatching(/^map\.graphql:8:26 {2}warning: Viewer\.at: reads date_created as UTC, but WordPress /),
    ]);
    expect(await check(map('/wp-json/wp/v2/posts', 'toDateTime("sql_utc")', 'date_gmt'))).toEqual([]);
    expect(await check(map('/wp-json/wp/v2/posts', 'toDateTime("sql", "UTC")'))).toEqual([]);
    expect(await check(map('/api/me', 'toDateTime("sql_utc")'))).toEqual([]);
  });
});
