import { hash } from 'node:crypto';
import { reason } from '../account/settings-files.ts';
import { UnusableFile } from '../config/named-file.ts';
import { readPlainYaml } from '../config/plain-yaml.ts';
import type { UntracedProblem } from '../config/problems.ts';
import { FileTooLarge, type SourceFiles } from '../config/source-files.ts';
import { listAt, type Path, type Tree, valueAt } from '../config/tree.ts';
import { sizeText } from '../http/amounts.ts';
import { exactText } from '../http/body.ts';
import { isObject, type JsonObject } from '../http/json-object.ts';

/** One file of a skill. */
export interface SkillFile {
  readonly uri: string;
  readonly bytes: Buffer;
  /** The bytes as text; undefined if they are not UTF-8. */
  readonly text: string | undefined;
  /** `sha256:` and the SHA-256 of the bytes in lower-case hexadecimal. */
  readonly digest: string;
}

/** Instructions for a task that takes several tools: an Agent Skill (agentskills.io). */
export interface Skill {
  /** The URI of its SKILL.md, which identifies it. */
  readonly uri: string;
  /** What its SKILL.md begins with, as the author wrote it. */
  readonly frontmatter: JsonObject & { readonly name: string; readonly description: string };
  /** All of its files, SKILL.md among them. */
  readonly files: readonly SkillFile[];
}

const SETTING: Path = ['mcp', 'skills'];
const SKILL_FILE = 'SKILL.md';

/** For all skills together. It is what SEP-2640 allows for each of them. */
const MOST_FILES = 512;
const MOST_BYTES = 16 * 1024 ** 2;
const DEEPEST = 4;

/** Every part of a URI. Files whose names begin with a dot are not for assistants. */
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
/** The name of a skill (agentskills.io, Specification). */
const NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LONGEST_DESCRIPTION = 1024;

interface ReadSkills {
  readonly skills: readonly Skill[];
  readonly findings: readonly UntracedProblem[];
  readonly warnings: readonly UntracedProblem[];
}

/**
 * Reads the folder that `mcp.skills` names: each folder in it is a skill, with a SKILL.md and further files. Takes the
 * merged settings before they are validated.
 */
export async function readSkills(tree: Tree, files: SourceFiles): Promise<ReadSkills> {
  const folder = valueAt(tree, SETTING);
  if (typeof folder !== 'string' || folder === '') return { skills: [], findings: [], warnings: [] };
  const finding = (message: string): UntracedProblem => ({ path: SETTING, at: 'value', message });
  try {
    const all = await filesBelow(folder, files);
    const named = Map.groupBy(all, ({ path }) => path[0] ?? '');
    const read = [...named].map(([name, own]) => skillOf(name, own));
    if (read.length === 0) throw new UnusableFile(`${folder} has no folder with a ${SKILL_FILE}`);
    const findings = read.flatMap((one) => (typeof one === 'string' ? [finding(`${folder}/${one}`)] : []));
    const skills = read.filter((one) => typeof one !== 'string');
    const warnings = skills.flatMap((skill) => unknownTools(skill, tree).map((text) => finding(`${folder}/${text}`)));
    return { skills, findings, warnings };
  } catch (thrown) {
    const message =
      thrown instanceof UnusableFile
        ? thrown.message
        : thrown instanceof FileTooLarge
          ? `${folder} has more than ${sizeText(MOST_BYTES)}`
          : `cannot read ${folder}: ${reason(thrown)}`;
    return { skills: [], findings: [finding(message)], warnings: [] };
  }
}

interface FoundFile {
  /** The names of the folders and of the file, from the folder of all skills on. */
  readonly path: readonly string[];
  readonly bytes: Buffer;
}

async function filesBelow(folder: string, files: SourceFiles): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  let room = MOST_BYTES;
  const visit = async (path: readonly string[]): Promise<void> => {
    const where = [folder, ...path].join('/');
    const names = await files.names(where).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOTDIR' && path.length > 0) return undefined;
      throw thrown;
    });
    if (names === undefined) {
      // A file beside the folders of skills, such as a README, belongs to none.
      if (path.length === 1) return;
      const bytes = await files.bytes(where, room);
      room -= bytes.length;
      if (found.push({ path, bytes }) > MOST_FILES)
        throw new UnusableFile(`${folder} has more than ${MOST_FILES} files`);
      return;
    }
    if (path.length > DEEPEST) throw new UnusableFile(`${where} is nested too deeply`);
    for (const name of names.toSorted()) {
      if (name.startsWith('.')) continue;
      if (!SEGMENT.test(name))
        throw new UnusableFile(`${where} has a name with other characters than A-Z a-z 0-9 . _ -`);
      await visit([...path, name]);
    }
  };
  await visit([]);
  return found;
}

/** The skill in a folder, or what is wrong with it, after its path. */
function skillOf(name: string, found: readonly FoundFile[]): Skill | string {
  const files = found.map(({ path, bytes }): SkillFile => {
    const digest = `sha256:${hash('sha256', bytes, 'hex')}`;
    return { uri: `skill://${path.join('/')}`, bytes, text: exactText(bytes), digest };
  });
  const uri = `skill://${name}/${SKILL_FILE}`;
  const main = files.find((file) => file.uri === uri);
  if (main === undefined) return `${name} has no ${SKILL_FILE}`;
  const frontmatter = frontmatterOf(main.text ?? '');
  const flaw = typeof frontmatter === 'string' ? frontmatter : flawOf(frontmatter, name);
  if (flaw !== undefined) return `${name}/${SKILL_FILE} ${flaw}`;
  return { uri, frontmatter: frontmatter as Skill['frontmatter'], files };
}

/** The YAML between the first two lines of `---`, as data, or what is wrong with it. */
function frontmatterOf(text: string): object | string {
  const lines = text.split(/\r?\n/);
  const end = lines.indexOf('---', 1);
  if (lines[0] !== '---' || end === -1) return 'must begin with YAML between two lines of ---';
  try {
    const data = readPlainYaml(lines.slice(1, end).join('\n'));
    return isObject(data) ? data : 'must have a name and a description between the lines of ---';
  } catch {
    return 'must begin with valid YAML between two lines of ---';
  }
}

function flawOf(frontmatter: object, folder: string): string | undefined {
  const { name, description } = frontmatter as { readonly name?: unknown; readonly description?: unknown };
  if (typeof name !== 'string' || !NAME.test(name))
    return 'must have a name of at most 64 lower-case letters, digits and single hyphens';
  if (name !== folder) return `is named ${name}, and its folder ${folder}: they must be the same`;
  if (typeof description !== 'string' || description.trim() === '' || description.length > LONGEST_DESCRIPTION)
    return `must have a description of at most ${LONGEST_DESCRIPTION} characters`;
  return undefined;
}

/** Names of tools in its texts that no tool has: a model would look for them in vain. */
function unknownTools({ files }: Skill, tree: Tree): readonly string[] {
  const tools = new Set(listAt(tree, ['mcp', 'tools']).map((tool) => valueAt(tool, ['name'])));
  return files.flatMap(({ uri, text = '' }) => {
    const named = [...text.matchAll(/`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`/g)].map(([, name = '']) => name);
    const unknown = new Set(named.filter((name) => !tools.has(name)));
    return [...unknown].map((name) => `${uri.slice('skill://'.length)} names the tool ${name}, which does not exist`);
  });
}
