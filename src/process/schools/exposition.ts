import type { Metrics } from '../../operations/metrics.ts';
import type { HostedSchool } from './school.ts';

/** Schools whose series have a label of their own: those that were used last. */
const MOST_LABELLED = 20;

/**
 * The metrics of the process and of the schools that are open, as one text in the Prometheus format. Those of a school
 * have the label `school`, for a bounded number of schools: a scrape must not grow with every school that is added.
 */
export async function joinedExposition(metrics: Metrics, schools: Iterable<HostedSchool>) {
  const open = [...schools].flatMap(({ name, gates }) => [...gates].map((gate) => ({ name, gate })));
  const named = new Map<string, Metrics>();
  for (const { name, gate } of open.toSorted((a, b) => b.gate.usedAt - a.gate.usedAt))
    if (named.size < MOST_LABELLED && !named.has(name)) named.set(name, gate.foundation.metrics);
  const { contentType, text } = await metrics.exposition();
  const families = new Map<string, string[]>();
  addFamilies(families, text, '');
  for (const [name, { own }] of named) addFamilies(families, await own(), `school="${name}"`);
  return { contentType, text: `${[...families.values()].flat().join('\n')}\n` };
}

/** Adds the lines of each metric to those that it has already, since a metric may be in a text only once. */
function addFamilies(families: Map<string, string[]>, text: string, label: string): void {
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    const [, kind, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (kind !== undefined) {
      const isNew = !families.has(name);
      lines = families.get(name) ?? [];
      families.set(name, lines);
      if (isNew || lines.length === 1) lines.push(line);
    } else if (line !== '') lines.push(label === '' ? line : labelled(line, label));
  }
}

/** The name of a series has no brace, and its labels none before the first one. */
function labelled(line: string, label: string): string {
  const [, name = '', labels, rest = ''] = /^([^{\s]+)(?:\{(.*)\})?(\s.*)$/.exec(line) ?? [];
  return `${name}{${label}${labels ? `,${labels}` : ''}}${rest}`;
}
