import { basename } from 'node:path';
import { readYaml } from './document.ts';
import en from './i18n/en.json' with { type: 'json' };
import { readNamedFile, UnusableFile } from './named-file.ts';
import { LANGUAGE_TAG, PAGE_LANGUAGES, type PageLanguage } from './pages.ts';
import { type Problem, problemAt, type UntracedProblem } from './problems.ts';
import type { SourceFiles } from './source-files.ts';
import { didYouMean } from './suggest.ts';
import { listAt, type Path, type Tree } from './tree.ts';

const ENGLISH: Readonly<Record<string, string>> = en;
const LANGUAGES: Path = ['pages', 'languages'];
const LONGEST = 256 * 1024;
/** Warnings name at most this many phrases. */
const MOST_NAMED = 20;

interface CatalogueFile extends PageLanguage {
  readonly problems: readonly Problem[];
}

/** Reads the languages of the pages, with the catalogues among `pages.languages`. */
export async function readCatalogues(tree: Tree, files: SourceFiles) {
  const written = listAt(tree, LANGUAGES);
  const entries: readonly unknown[] = written.length > 0 ? written : PAGE_LANGUAGES;
  const all = await Promise.all(
    entries.map(async (entry, index) => {
      const path = [...LANGUAGES, index];
      if (!String(entry).endsWith('.json')) return { path, entry, value: builtIn(entry), findings: [] };
      return { path, entry, ...(await readNamedFile(tree, path, files, parserFor(files), LONGEST)) };
    }),
  );
  const repeated = all.filter(
    ({ value }, index) => all.findIndex((other) => other.value?.tag === value?.tag) < index && value !== undefined,
  );
  return {
    languages: all.flatMap(({ value }) => (value === undefined ? [] : [{ tag: value.tag, phrases: value.phrases }])),
    problems: all.flatMap(({ value }) => value?.problems ?? []),
    findings: [
      ...all.flatMap(({ findings }) => findings),
      ...repeated.map(({ path, value }) => ({
        path,
        at: 'value' as const,
        message: `must name each language once: ${value?.tag} is already in the list`,
      })),
    ],
    warnings: all.flatMap(({ path, entry, value }) => (value === undefined ? [] : lacking(path, String(entry), value))),
  };
}

function builtIn(entry: unknown): CatalogueFile | undefined {
  return typeof entry === 'string' ? { tag: entry, phrases: {}, problems: [] } : undefined;
}

/** A catalogue is read as YAML, of which JSON is a part, since that keeps the line of each phrase. */
function parserFor(files: SourceFiles) {
  return (bytes: Buffer, file: string): CatalogueFile => {
    const tag = basename(file, '.json');
    if (!LANGUAGE_TAG.test(tag)) {
      throw new UnusableFile(': the file must be named for its language, such as pt.json or pt-BR.json (BCP 47)');
    }
    const { tree, problems, place } = readYaml(files.resolve(file), bytes.toString('utf8'));
    if (problems.length > 0) return { tag, phrases: {}, problems };
    const mistakes = Object.entries(tree).flatMap(([key, phrase]) => mistakesIn(key, phrase));
    if (tree.direction === undefined && !isBuiltIn(tag)) {
      mistakes.push({ path: ['direction'], at: 'key', message: 'is missing (ltr or rtl)' });
    }
    return {
      tag,
      phrases: tree as Readonly<Record<string, string>>,
      problems: mistakes.map((finding) => problemAt(place(finding.path, finding.at), finding)),
    };
  };
}

function mistakesIn(key: string, phrase: unknown): UntracedProblem[] {
  const mistake = (at: UntracedProblem['at'], message: string): UntracedProblem[] => [{ path: [key], at, message }];
  const english = ENGLISH[key] ?? ENGLISH[key.replace(FORM, '_other')];
  if (english === undefined) {
    return mistake('key', `there is no phrase of this name${didYouMean(key, Object.keys(ENGLISH))}`);
  }
  if (typeof phrase !== 'string' || phrase.trim() === '') return mistake('value', 'must be text in quotes');
  if (key === 'direction') return /^(?:ltr|rtl)$/.test(phrase) ? [] : mistake('value', 'must be ltr or rtl');
  const expected = new Set(placeholdersIn(english));
  const given = new Set(placeholdersIn(phrase));
  const unknown = [...given].filter((name) => !expected.has(name) && name !== 'school');
  // A form for one number may say it in words.
  const lost = [...expected].filter(
    (name) => !given.has(name) && name !== 'school' && !(name === 'count' && !key.endsWith('_other')),
  );
  return [
    ...unknown.flatMap((name) => mistake('value', `nothing is known as {${name}} in this phrase`)),
    ...lost.flatMap((name) => mistake('value', `must contain {${name}}`)),
  ];
}

/** The end of a key that is for one plural form. */
const FORM = /_(?:zero|one|two|few|many|other)$/;

function placeholdersIn(phrase: string): readonly string[] {
  return [...phrase.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function isBuiltIn(tag: string): boolean {
  return PAGE_LANGUAGES.some((language) => language === tag.split('-', 1)[0]);
}

/** Phrases that members would read in English. A catalogue for a built-in language may have a few phrases only. */
function lacking(path: Path, file: string, { tag, phrases }: PageLanguage): readonly UntracedProblem[] {
  if (isBuiltIn(tag)) return [];
  const expected = Object.keys(ENGLISH).flatMap((key) => keysFor(key, tag));
  const missing = expected.filter((key) => !Object.hasOwn(phrases, key));
  if (missing.length === 0) return [];
  const named = missing.slice(0, MOST_NAMED).join(', ');
  const rest = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : '';
  const message = `${file} lacks phrases, which are shown in English: ${named}${rest}`;
  return [{ path, at: 'value', message }];
}

/** What a catalogue in this language needs instead of an English key: a phrase about a number has a key for each form. */
function keysFor(key: string, tag: string): readonly string[] {
  const other = key.replace(FORM, '_other');
  if (!FORM.test(key) || ENGLISH[other] === undefined) return [key];
  return key === other ? formsOf(tag).map((form) => key.replace(FORM, `_${form}`)) : [];
}

/** The plural forms that whole numbers have. Some languages have one more for millions, or for fractions. */
function formsOf(tag: string): readonly string[] {
  const rules = new Intl.PluralRules([tag, 'en']);
  const selected = Array.from({ length: 200 }, (_, count) => rules.select(count));
  return [...new Set<string>([...selected, 'other'])];
}
