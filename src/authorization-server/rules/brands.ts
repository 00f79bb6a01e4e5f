import table from './brands.json' with { type: 'json' };
import { confusableSkeleton } from './confusables.ts';
import { readingsOf, skeleton, wordsOf } from './name-skeleton.ts';

/** A company whose name, or that of its assistant, an app has to prove. */
export interface Brand {
  readonly owner: string;
  /** Its domains, the best known first. It alone decides what is at them and at their subdomains. */
  readonly domains: readonly string[];
}

interface BrandName {
  readonly brand: Brand;
  /** Whether the name is no word of any language, so that it is telling in a longer name too. */
  readonly coined: boolean;
}

const NAMES: ReadonlyMap<string, BrandName> = new Map(
  table.brands.flatMap(({ owner, domains, names, words }) => {
    const brand = { owner, domains };
    const named = (coined: boolean) => (name: string) => [skeleton(name), { brand, coined }] as const;
    return [...names.map(named(true)), ...words.map(named(false))];
  }),
);
const LONGEST = Math.max(...[...NAMES.keys()].map((name) => name.length));

/** Words that leave a brand's name what it is: "Claude Desktop", "Sign in with Claude". */
const GENERIC: ReadonlySet<string> = new Set(table.generic.map(skeleton));
/** After these words, a coined name says what an app works with: "Flashcards for ChatGPT". */
const BEFORE: ReadonlySet<string> = new Set(table.before.map(skeleton));

/**
 * The brand that an app is named after; undefined if there is none. A name that is also an ordinary word ("Gemini") counts
 * only among words that say nothing, so that "Gemini Constellation" is not one. Takes time linear in the length of the name.
 */
export function brandIn(name: string): Brand | undefined {
  for (const reading of readingsOf(name)) {
    // A sign that looks like a letter does not separate words, and a version is no part of a name.
    for (const text of [reading, confusableSkeleton(reading), reading.replace(/\p{N}+/gu, ' ')]) {
      // As in ClaudeDesktop.
      const words = wordsOf(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')).map(skeleton);
      const brand = brandAmong(words.filter((word) => word !== ''));
      if (brand !== undefined) return brand;
    }
  }
  return undefined;
}

/** Whether a host, with its port if it is not the usual one, belongs to the brand. */
export function isOwnHost({ domains }: Brand, host: string): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

function brandAmong(words: readonly string[]): Brand | undefined {
  const telling = words.filter((word) => !GENERIC.has(word)).length;
  for (const start of words.keys()) {
    let run = '';
    let inside = 0;
    for (let end = start; end < words.length && run.length < LONGEST; end += 1) {
      const word = words[end] ?? '';
      run += word;
      inside += GENERIC.has(word) ? 0 : 1;
      const found = end === start ? nameIn(word) : NAMES.get(run);
      const isWhole = telling === inside;
      const isSubject = found?.coined === true && !BEFORE.has(words[start - 1] ?? '');
      if (found !== undefined && (isWhole || isSubject)) return found.brand;
    }
  }
  return undefined;
}

/** The name that a word is, or that it is together with a word that says nothing: "claudelogin". */
function nameIn(word: string): BrandName | undefined {
  const glued = [...NAMES.keys()].find(
    (name) =>
      (word.startsWith(name) && isGlue(word.slice(name.length))) ||
      (word.endsWith(name) && isGlue(word.slice(0, -name.length))),
  );
  return NAMES.get(word) ?? NAMES.get(glued ?? '');
}

/** Short words are left out: "Zoomin" is no Zoom. */
function isGlue(word: string): boolean {
  return GENERIC.has(word) && word.length > 2;
}
