import { expect, it } from 'vitest';
import { filledText } from '../../../src/operator/setup/text-template.ts';

it.each<[string, Parameters<typeof filledText>[1], string]>([
  ['a {{x}} b\n', { x: 'y' }, 'a y b\n'],
  ['a {{x}}{{n}}\n', { x: ['y', 'z'], n: 1 }, 'a y\nz1\n'],
  ['{\n  {{x}}\n}\n', { x: ['y {', '\tz\n', '', '}'] }, '{\n  y {\n  \tz\n\n  }\n}\n'],
  ['{\n  {{x}}\n}\n', { x: [] }, '{\n}\n'],
  ['{\n  {{x}}\n}\n', { x: '' }, '{\n}\n'],
  ['{{x}}\n', { x: '{{y}}' }, '{{y}}\n'],
])('fills in %j with %j', (template, filling, text) => {
  expect(filledText(template, filling)).toBe(text);
});

it('refuses a name that nothing is given for', () => {
  expect(() => filledText('a {{toString}} b', {})).toThrow('Nothing is filled in for toString.');
});
