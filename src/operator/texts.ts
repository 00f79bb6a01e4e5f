import { readPlainYaml } from '../config/plain-yaml.ts';
import { codePath, installedFiles, readInstalled } from '../installation.ts';

/** The texts of one id. */
export type Texts<N extends string, O extends string> = Readonly<Record<N, string> & Partial<Record<O, string>>>;

/**
 * Reads texts for people, which are in YAML files beside the code: for each id, its texts by name.
 *
 * @param files - paths below the code, such as `operator/doctor/themes.yaml`
 * @param names - which texts each id has
 * @param optional - which it may have besides
 * @throws an error that names the file and the id, for an id that is there twice, lacks a text or has another one
 */
export function readTexts<N extends string, O extends string = never>(
  files: readonly string[],
  names: readonly N[],
  optional: readonly O[] = [],
): ReadonlyMap<string, Texts<N, O>> {
  const all = new Map<string, Texts<N, O>>();
  for (const file of files) {
    const mapping: object = Object(readPlainYaml(readInstalled(codePath(file)).toString('utf8')));
    for (const [id, texts] of Object.entries(mapping)) {
      if (all.has(id)) throw new Error(`${file}: ${id} is in another file, too.`);
      if (!hasTexts(texts, names, optional))
        throw new Error(`${file}: ${id} must have ${names.join(', ')}, and nothing else.`);
      all.set(id, texts);
    }
  }
  return all;
}

function hasTexts<N extends string, O extends string>(
  value: unknown,
  names: readonly N[],
  optional: readonly O[],
): value is Texts<N, O> {
  const texts = new Map<string, unknown>(Object.entries(Object(value)));
  const known = [...names, ...optional].filter((name) => typeof texts.get(name) === 'string');
  return texts.size === known.length && names.every((name) => texts.has(name));
}

/** A text with its placeholders, such as `{name}`, replaced by values; '' for undefined. Throws for an unknown name. */
export function filled(text: string, values: Readonly<Record<string, string | number | undefined>>): string {
  return text.replace(/\{([a-z][\w-]*)\}/gi, (placeholder, name: string) => {
    if (!Object.hasOwn(values, name)) throw new Error(`A text has the unknown placeholder ${placeholder}.`);
    return String(values[name] ?? '');
  });
}

/** The YAML files below a folder of the code, as `readTexts` takes them. */
export function textFiles(folder: string): readonly string[] {
  return installedFiles(codePath(folder))
    .filter((path) => path.endsWith('.yaml'))
    .map((path) => `${folder}/${path}`);
}
