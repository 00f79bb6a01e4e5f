import { expect, it } from 'vitest';
import { filled } from '../../src/http/template.ts';

const SINGLE = (text: string) => text.replaceAll("'", "''");

it.each<[string, Parameters<typeof filled>[1], string]>([
  ["a '{{x}}' {{{x}}}\n", { x: "y's <&>" }, "a 'y''s <&>' y's <&>\n"],
  ['{{x}} {{n}}\n', { x: '{{y}}', n: 0 }, '{{y}} 0\n'],
  ['{\n  {{#x}}\n  {{.}} {\n  {{/x}}\n}\n', { x: ['y', 'z'] }, '{\n  y {\n  z {\n}\n'],
  ['{\n  {{#x}}\n  y\n  {{/x}}\n}\n', { x: [] }, '{\n}\n'],
  ['{{#x}}{{a}}{{b}}{{/x}}{{^y}}c{{/y}}', { x: { a: 1 }, b: 2, y: false }, '12c'],
])('fills in %j with %j', (template, view, text) => {
  expect(filled(template, view, SINGLE)).toBe(text);
});

it.each(['a {{other}} b', '{{#list}}{{x}}{{/list}}', '{{#other}}x{{/other}}'])('refuses %s', (template) => {
  expect(() => filled(template, { list: [{}] })).toThrow(/^Nothing is filled in for (x|other)\.$/);
});
