import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainYaml } from '../../src/config/plain-yaml.ts';

/** A tool, as in the demo's file. */
interface DemoTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scopes?: readonly string[];
  readonly input?: { readonly properties?: object; readonly required?: readonly string[] };
  readonly output?: { readonly properties?: object; readonly required?: readonly string[] };
}

const demo = readPlainYaml(readFileSync(new URL('../../config/tools.yaml', import.meta.url), 'utf8')) as {
  readonly tools: readonly DemoTool[];
};

/** The tools of the demo, except the one that writes, to which the gate adds a parameter of its own. */
export const TOOLS = demo.tools.filter(({ scopes = [] }) => !scopes.includes('account:write'));

/** Writes the file of the demo with these tools only, and returns its path. */
export function writeTools(folder: string): string {
  const file = join(folder, 'tools.yaml');
  writeFileSync(file, JSON.stringify({ ...demo, tools: TOOLS }));
  return file;
}

const courses = Array.from({ length: 20 }, (_, at) => ({
  slug: `course-${at}`,
  title: `Course ${at}, from the beginning to the end`,
  summary: `What there is to know of ${at}, in as many words as the summary of a course usually has in a catalogue.`,
  lectures: 10 + at,
  priceCents: 4900 + at * 100,
  currency: 'EUR',
}));

/** The result of `search_courses`. */
export const RESULT = { courses, total: 60, nextPage: 2 };

/** The school's response, which that result is made from. */
export const ANSWER = JSON.stringify({
  data: courses.map(({ lectures, priceCents, ...rest }, at) => ({
    id: `c-${at}`,
    ...rest,
    lectures_count: lectures,
    price_cents: priceCents,
  })),
  meta: { page: 1, per_page: 20, total: 60, next_page: 2 },
});
