import { readFileSync } from 'node:fs';
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

export const TOOLS_FILE = new URL('../../config/tools.yaml', import.meta.url);

/** The tools for a member with `account:read`: those of the demo, except the one that writes. */
export const TOOLS = (readPlainYaml(readFileSync(TOOLS_FILE, 'utf8')) as { tools: DemoTool[] }).tools.filter(
  ({ scopes = [] }) => !scopes.includes('account:write'),
);

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
