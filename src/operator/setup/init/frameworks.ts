import { field } from '../../doctor/answer.ts';
import type { Framework } from '../names.ts';
import { PRESETS, readPreset } from './preset-file.ts';
import type { SeenSite } from './probe.ts';

export interface Guess {
  readonly framework: Framework;
  readonly sure: 'given' | 'sure' | 'likely' | 'unknown';
  /** The evidence for this framework. */
  readonly marks: readonly string[];
  /** The evidence for other frameworks. */
  readonly others: readonly string[];
}

/** The paths that the marks of all frameworks need. The front page comes first. */
export function markPaths(): readonly string[] {
  return ['/', ...PRESETS.flatMap((name) => readPreset(name).marks.flatMap(({ seen }) => seen.paths))];
}

function isPhp({ cookies, answers }: SeenSite): boolean {
  return cookies.has('PHPSESSID') || [...answers.values()].some((answer) => /^PHP/.test(field(answer, 'x-powered-by')));
}

/** Guesses the framework of a site. A single mark may be a coincidence, so `sure` takes at least two. */
export function guessFramework(site: SeenSite): Guess {
  const seen = PRESETS.map((framework) => {
    const found = readPreset(framework).marks.filter((mark) => mark.seen.seen(site));
    const score = found.reduce((sum, { weight }) => sum + weight, 0);
    return { framework, score, marks: found.map(({ says }) => says) };
  })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  const [best, second] = seen;
  const generic = { framework: 'generic', sure: 'unknown' } as const;
  if (best === undefined)
    return { ...generic, marks: isPhp(site) ? ['PHP without a known framework'] : [], others: [] };
  const { framework, score, marks } = best;
  const lead = score - (second?.score ?? 0);
  const listed = (some: typeof seen) => some.flatMap((one) => one.marks.map((words) => `${one.framework}: ${words}`));
  // A single weak mark does not justify installing a framework's drop-in.
  if (score < 3 || lead < 1) return { ...generic, marks: [], others: listed(seen) };
  const sure = marks.length > 1 && score >= 5 && lead >= 3 ? 'sure' : 'likely';
  return { framework, sure, marks, others: listed(seen.slice(1)) };
}
