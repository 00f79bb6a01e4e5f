import { z } from 'zod';
import { compilePattern, pattern } from '../../../config/pattern.ts';
import { field, isHtml, jsonObject, strings } from '../../doctor/answer.ts';
import type { SeenSite } from './probe.ts';

/** Evidence for a framework. */
export interface Evidence {
  /** The paths that it needs an answer of. */
  readonly paths: readonly string[];
  readonly seen: (site: SeenSite) => boolean;
}

/** A path of the site, without a query. */
export const sitePath = z.string().max(100).startsWith('/');
export const word = z.string().min(1).max(100);

/** A pattern for what a site sends. */
const matching = pattern
  .min(1)
  .max(300)
  .transform((source) => compilePattern(source).matches);

/** What a member of a JSON object has to be: of a type, or there, or equal to, a list with, or matching something. */
const condition = z.union([
  z.enum(['string', 'object', 'any']).transform((type) => (value: unknown) => {
    return type === 'any' ? value !== undefined : typeof value === type;
  }),
  z.strictObject({ is: z.number() }).transform((given) => (value: unknown) => value === given.is),
  z.strictObject({ includes: word }).transform((given) => (value: unknown) => strings(value).includes(given.includes)),
  z.strictObject({ matches: matching }).transform((given) => (value: unknown) => given.matches(String(value))),
]);

const mark = (paths: readonly string[], seen: Evidence['seen']): Evidence => ({ paths, seen });

const cookie = z
  .strictObject({ cookie: matching })
  .transform((given) => mark([], ({ cookies }) => [...cookies].some((name) => given.cookie(name))));

const header = z
  .strictObject({ header: word, matches: matching })
  .transform(({ header, matches }) =>
    mark([], ({ answers }) => [...answers.values()].some((answer) => matches(field(answer, header)))),
  );

/** Whether any page, or the page at `at`, matches. */
const page = z
  .strictObject({ page: matching, at: sitePath.optional() })
  .transform(({ page, at }) =>
    mark(at === undefined ? [] : [at], ({ answers }) =>
      [...answers].some(([path, one]) => (at ?? path) === path && isHtml(one) && page(one.text)),
    ),
  );

const json = z.strictObject({ json: sitePath, has: z.record(word, condition) }).transform((given) =>
  mark([given.json], ({ answers }) => {
    const answer = answers.get(given.json);
    const document = answer === undefined ? undefined : jsonObject(answer);
    return document !== undefined && Object.entries(given.has).every(([name, holds]) => holds(document[name]));
  }),
);

const several = z.lazy(() => z.array(evidence).min(1).max(9));
const pathsOf = (parts: readonly Evidence[]) => parts.flatMap(({ paths }) => paths);

export const evidence: z.ZodType<Evidence> = z.union([
  cookie,
  header,
  page,
  json,
  z
    .strictObject({ all: several })
    .transform(({ all }) => mark(pathsOf(all), (site) => all.every((one) => one.seen(site)))),
  z
    .strictObject({ any: several })
    .transform(({ any }) => mark(pathsOf(any), (site) => any.some((one) => one.seen(site)))),
  z.strictObject({ not: z.lazy(() => evidence) }).transform(({ not }) => mark(not.paths, (site) => !not.seen(site))),
]);
