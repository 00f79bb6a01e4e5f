import { expect, it } from 'vitest';
import { jsonMembers } from '../../src/upstream/json-members.ts';

it.each([
  ['{}', []],
  [' { } ', []],
  ['{"a":1}', [['a', '"a":1']]],
  [
    ' {"a" : 1.50 , "a":"x"}',
    [
      ['a', '"a" : 1.50'],
      ['a', '"a":"x"'],
    ],
  ],
  [
    '{"a":[1,{"b":[]}],"c":{"d":[2],"e":{}},"f":[]}',
    [
      ['a', '"a":[1,{"b":[]}]'],
      ['c', '"c":{"d":[2],"e":{}}'],
      ['f', '"f":[]'],
    ],
  ],
  [
    String.raw`{"\u0061,":"}]\",{","b":["\\"]}`,
    [
      ['a,', String.raw`"\u0061,":"}]\",{"`],
      ['b', String.raw`"b":["\\"]`],
    ],
  ],
])('the members of %s are as they were written', (text, members) => {
  expect(jsonMembers(text)?.map((member) => [member.name, member.text])).toEqual(members);
});

it.each([
  '',
  'null',
  '1',
  '"{}"',
  '[{"a":1}]',
  '{"a":1',
  '{"a":1}}',
  '{a:1}',
  `{"a":${'['.repeat(1001)}1${']'.repeat(1001)}}`,
])('there are none in %s, which is no object within the bounds', (text) => {
  expect(jsonMembers(text)).toBeUndefined();
});
