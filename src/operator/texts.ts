import { readPlainYaml } from '../config/plain-yaml.ts';
import { codePath, installedFiles, readInstalled } from '../installation.ts';

/**
 * Reads texts for people, which are in YAML files beside the code: for each id, its texts by name.
 *
 * @param files - paths below the code, such as `operator/doctor/themes.yaml`
 * @param names - which texts each id has
 * @throws an error that names the file and the id, for an id that is there twice, lacks a text or has another one
 */
export function readTexts<N extends string>(
  files: readonly string[],
  names: readonly N[],
): ReadonlyMap<string, Readonly<Record<N, string>>> {
  const all = new Map<string, Readonly<Record<N, string>>>();
  for (const file of files) {
    const mapping: object = Object(readPlainYaml(readInstalled(codePath(file)).toString('utf8')));
    for (const [id, texts] of Object.entries(mapping)) {
      if (all.has(id)) throw new Error(`${file}: ${id} is in another file, too.`);
      if (!hasTexts(texts, names)) throw new Error(`${file}: ${id} must have ${names.join(', ')}, and nothing else.`);
      all.set(id, texts);
    }
  }
  return all;
}

function hasTexts<N extends string>(value: unknown, names: readonly N[]): value is Readonly<Record<N, string>> {
  const texts = new Map(Object.entries(Object(value)));
  return texts.size === names.length && names.every((name) => typeof texts.get(name) === 'string');
}

/** The YAML files below a folder of the code, as `readTexts` takes them. */
export function textFiles(folder: string): readonly string[] {
  return installedFiles(codePath(folder))
    .filter((path) => path.endsWith('.yaml'))
    .map((path) => `${folder}/${path}`);
}
