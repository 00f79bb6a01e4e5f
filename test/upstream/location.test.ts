import { expect, it } from 'vitest';
import { publicLocation } from '../../src/upstream/location.ts';

const ORIGIN = 'https://school.example';

it.each([
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000/a?b#c', 'https://school.example/a?b#c'],
  ['http://127.0.0.1:4000', 'https://127.0.0.1:4000/a', 'https://school.example/a'],
  ['http://127.0.0.1:4000', 'http://localhost:4000/a', 'https://school.example/a'],
  ['http://127.0.0.1:4000', '//127.0.0.1:4000/a', 'https://school.example/a'],
  ['http://127.0.0.1:4000', 'http:\\\\127.0.0.1:4000\\a', 'https://school.example/a'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000//evil.example', 'https://school.example//evil.example'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4001/a', 'https://school.example/a'],
  ['http://127.0.0.1:4000', 'mailto:a@b', 'mailto:a@b'],
  ['http://127.0.0.1:4000', 'http://[::1]:4000/a', 'https://school.example/a'],
  ['http://127.0.0.1:4000', 'http://127.8.8.8/a', 'https://school.example/a'],
  ['http://inner', 'https://inner/a', 'https://school.example/a'],
  ['http://inner:443', 'https://inner/a', 'https://school.example/a'],
  ['https://inner:80', 'http://inner/a', 'https://school.example/a'],
  ['http://inner:443', 'http://inner/a', 'http://inner/a'],
  ['http://inner', 'http://inner:8080/a', 'http://inner:8080/a'],
  ['http://inner', 'http://inner.example/a', 'http://inner.example/a'],
  ['http://inner/base', 'http://inner/base/a', 'https://school.example/a'],
  ['http://inner/base', 'http://inner/base', 'https://school.example/'],
  ['http://inner/base', '/base/a', '/a'],
  ['http://inner/base', '/based', '/based'],
  ['http://inner/base', '/base//evil.example', 'https://school.example//evil.example'],
  ['http://inner/base', 'a/b', 'a/b'],
])('behind %s, %s is %s', (upstream, given, expected) => {
  const addresses = { internal: [{ upstream: 'school', url: new URL(upstream) }], origin: ORIGIN } as const;
  expect(publicLocation(given, addresses)).toBe(expected);
});
