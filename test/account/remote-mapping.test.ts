import { describe, expect, test } from 'vitest';
import { CONTRACT, REMOTE_MAPPING, remoteOptions, UPSTREAM_SCHEMA } from './support/events.ts';
import { mistakesIn } from './support/mistakes.ts';

test('the mapping has no mistakes, and makes no call at start', () => {
  expect(mistakesIn(remoteOptions())).toEqual([]);
});

const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length;

describe('a mistake in the mapping is reported with its line', () => {
  test.each<[from: string, to: string, said: string]>([
    [
      'root: "people", member: "ids")\n  badge',
      'root: "persons", member: "ids")\n  badge',
      "Viewer.nickname: the upstream's Query has no field persons",
    ],
    [
      'member: "ids")\n  badge',
      'member: "id")\n  badge',
      "Viewer.nickname: member: the upstream's people has no argument id",
    ],
    [
      ', member: "ids")\n  badge',
      ')\n  badge',
      'Viewer.nickname: people returns a list, so its member argument must be a list',
    ],
    ['name: "secret"', 'name: "secrets"', "Viewer.hidden: the upstream's Person has no field secrets"],
    ['as: "take"', 'as: "limit"', "Viewer.places: argument first: the upstream's places has no argument limit"],
    ['name: "first", as', 'name: "count", as', 'Viewer.places: the contract has no argument count'],
    [
      'nickname: String @graphql(source: "people"',
      'nickname: String @graphql(source: "school"',
      'Viewer.nickname: no @source with graphql is named "school"',
    ],
    ['badge: Int @graphql', 'badge: String @graphql', 'Viewer.badge: is Int in the contract, not String'],
    ['  total: Int @graphql(source: "people")\n', '', 'Viewer.total: nothing provides this field'],
    [
      'total: Int @graphql(source: "people")',
      'id: ID! @graphql(source: "people")',
      'Viewer.id: comes from the access token and cannot be mapped',
    ],
    [
      'total: Int @graphql(source: "people")',
      'total: Int @graphql(source: "people", name: "greeting")',
      'Viewer.total: is Int in the contract, but String upstream',
    ],
    [
      'total: Int @graphql(source: "people")',
      'total: Int @graphql(source: "people", url: "x")',
      'Viewer.total: @graphql: there is no argument url',
    ],
    ['name: "OLD_ON"', 'name: "OLDER"', "Place.state: Condition.ON: the upstream's State has no OLDER"],
    [
      'name: "key"',
      'name: "keys"',
      "Mutation.leave: argument input LeaveInput.id: the upstream's DropWhere has no keys",
    ],
    [
      'name: "drop"',
      'name: "deleteEverybody"',
      "Mutation.leave: argument input: the upstream's deleteEverybody has no argument where",
    ],
    ['name: "drop"', 'name: "greeting"', "Mutation.leave: the upstream's Mutation has no field greeting"],
    ['name: "drop",', 'root: "you",', 'Mutation.leave: root: a mutation is itself a root field'],
    ['extend enum Condition', 'extend enum Conditions', 'Conditions: the contract has no such type'],
    ['  ON @upstream', '  ONN @upstream', 'Condition.ONN: the contract has nothing with this name'],
    ['  ON @upstreamName(source: "people", name: "OLD_ON")', '  ON', 'Condition.ON: needs @upstreamName'],
    [
      'extend input',
      'extend type Place { label: String! @graphql(source: "people") }\nextend input',
      'Place.label: @graphql is for fields of Query, Viewer or Mutation',
    ],
    ['extend input', 'extend union X = Place\nextend input', 'mapping: a mapping file can only contain'],
  ])('%j → %j', (from, to, said) => {
    expect(REMOTE_MAPPING).toContain(from);
    const text = REMOTE_MAPPING.replace(from, to);
    const found = mistakesIn(remoteOptions(text));
    const matching = found.find((line) => line.includes(` ${said}`));
    expect(matching ?? found.join('\n')).toContain(said);
    // A field without a source is reported at its place in the contract, and an enum where it is used.
    if (to !== '' && !/^Place.state|LeaveInput/.test(said)) {
      expect(matching).toMatch(new RegExp(`^map\\.graphql:(${lineOf(text, to)}|${lineOf(text, to) + 1}):`));
    }
  });
});

describe('a changed upstream schema is reported at start', () => {
  test.each<[from: string, to: string, said: string]>([
    ['nickname: String', 'nickname: [String]', 'Viewer.nickname: is String in the contract, but [String] upstream'],
    ['label: String!', 'label: String', 'Place.label: is String! in the contract, but String upstream'],
    ['[Place!]', '[Place]', 'Viewer.places: is Place! in the contract, but Place upstream'],
    ['id: ID! label', 'id: Float! label', 'Place.id: is ID in the contract, but Float upstream'],
    ['opened: String', 'opened: Int', 'Place.opened: is DateTime in the contract, which Int cannot provide'],
    ['label: String!', 'label: Town!', 'Place.label: is String in the contract, but Town upstream'],
    ['town: Town', 'town: String', "Place.town: is Town in the contract, which the upstream's String cannot be"],
    ['town: Town', 'town(of: ID!): Town', "Place.town: the upstream's town needs of"],
    ['state: State! opened', 'opened', "Place.state: the upstream's Place has no field state"],
    ['take: Int', 'take: String', 'Viewer.places: argument first takes Int, but the upstream takes String'],
    ['take: Int', 'take: Int!', "Viewer.places: argument first may be null, which the upstream's Int! may not"],
    ['people(ids: [ID!]!)', 'people(ids: [Int!]!)', 'Viewer.nickname: member: ids is [Int!]!, which cannot take an ID'],
    ['people(ids: [ID!]!)', 'people(ids: [ID!]!, tenant: ID!)', "Viewer.nickname: the upstream's people needs tenant"],
    ['key: ID!', 'key: ID! why: String!', "Mutation.leave: argument input the upstream's DropWhere needs why"],
    ['type Query', 'type Query {', 'recorded schema: Syntax Error'],
  ])('%j → %j', (from, to, said) => {
    const recorded = UPSTREAM_SCHEMA.replace(from, to);
    expect(recorded).not.toBe(UPSTREAM_SCHEMA);
    const found = mistakesIn(remoteOptions(REMOTE_MAPPING, recorded));
    expect(found.join('\n')).toContain(said);
    expect(found[0]).toMatch(/^(map|people)\.graphql:\d+:\d+ /);
  });

  test.each([
    ['people: String', 'Viewer.nickname: people does not return an object'],
    ['people: [String]', 'Viewer.nickname: people does not return an object'],
  ])('for a root that is no object: %s', (root, said) => {
    const recorded = UPSTREAM_SCHEMA.replace('people(ids: [ID!]!): [Person]!', root);
    expect(mistakesIn(remoteOptions(REMOTE_MAPPING, recorded)).join('\n')).toContain(said);
  });

  test('for mutations of an upstream that has none', () => {
    const recorded = UPSTREAM_SCHEMA.replace(/^type Mutation .*\n/m, '');
    const found = mistakesIn(remoteOptions(REMOTE_MAPPING, recorded));
    expect(found.join('\n')).toContain('Mutation.leave: the upstream has no operations of this kind');
  });

  test('for a state that the contract does not have', () => {
    const recorded = UPSTREAM_SCHEMA.replace('OLD_OFF', 'OLD_OFF LOST');
    const found = mistakesIn(remoteOptions(REMOTE_MAPPING, recorded, CONTRACT.replace('ON OFF UNKNOWN', 'ON OFF')));
    expect(found.join('\n')).toContain("Place.state: Condition has nothing for the upstream's State.LOST");
    expect(mistakesIn(remoteOptions(REMOTE_MAPPING, recorded))).toEqual([]);
  });

  test('for a type that is missing from its union', () => {
    const upstream = (members: string) =>
      UPSTREAM_SCHEMA.replace('secret: String', 'secret: String spot: Spot').concat(`union Spot = ${members}\n`);
    const mapping = REMOTE_MAPPING.replace(
      'type Viewer {',
      'type Viewer {\n  spot: Spot @graphql(source: "people", root: "people", member: "ids")',
    );
    const mistakes = (members: string) => {
      const contract = CONTRACT.replace('type Viewer {', 'union Spot = Place | Town\ntype Viewer { spot: Spot');
      return mistakesIn(remoteOptions(mapping, upstream(members), contract));
    };
    expect(mistakes('Place | Town')).toEqual([]);
    expect(mistakes('Place')).toEqual([expect.stringContaining("Town: the upstream's Spot is never Town")]);
  });

  test('for the viewer, which cannot come from an upstream', () => {
    const mapping = REMOTE_MAPPING.replace(
      'extend input',
      'extend type Town { boss: Viewer @upstreamName(source: "people", name: "mayor") }\nextend input',
    );
    const contract = CONTRACT.replace('type Town {', 'type Town { boss: Viewer');
    const found = mistakesIn(remoteOptions(mapping, UPSTREAM_SCHEMA, contract));
    expect(found.join('\n')).toContain('Viewer: the viewer comes from the access token, not from an upstream');
  });

  test('for a field that must not be null', () => {
    const mapping = REMOTE_MAPPING.replace('badge: Int @', 'badge: Int! @');
    const found = mistakesIn(remoteOptions(mapping, UPSTREAM_SCHEMA, CONTRACT.replace('badge: Int', 'badge: Int!')));
    expect(found.join('\n')).toContain('Viewer.badge: comes from a separate upstream call, so it must be nullable');
  });

  test('for a schema that is not recorded or not configured', () => {
    const { recorded: _, ...rest } = remoteOptions();
    const none = [{ upstream: 'people', file: 'people.graphql', text: undefined }];
    expect(mistakesIn({ ...rest, recorded: none as never })[0]).toMatch(
      /^map\.graphql:4:\d+ Query\.greeting: people\.graphql does not exist yet: run coursegate account pull$/,
    );
    expect(mistakesIn({ ...rest, recorded: [] })[0]).toContain('account.upstreamSchemas has no entry for "people"');
  });
});
