import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { Skill, SkillFile } from './settings-skills.ts';

/** The identifier of the extension (SEP-2640). */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

/** Skills are the operator's own texts: the same for everyone, until the configuration is loaded again. */
const CACHED = { resultType: 'complete', ttlMs: 300_000, cacheScope: 'public' } as const;

type PageOf = (cursor: string | undefined) => Record<string, unknown>;

/**
 * Answers `skills/list` and `skills/get`. `page` makes a page of a list; it throws ProtocolError -32602 for a foreign
 * cursor.
 */
export function answerSkills(server: Server, skills: readonly Skill[], page: PageOf): void {
  server.setRequestHandler('skills/list', { params: ANY }, (params) => ({
    ...CACHED,
    ...page(textOf(params, 'cursor')),
  }));
  server.setRequestHandler('skills/get', { params: ANY }, (params) => {
    const uri = textOf(params, 'uri');
    const skill = skills.find((one) => one.uri === uri);
    if (skill === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No skill has this URI.');
    return { ...CACHED, skill: skillEntry(skill) };
  });
}

/** A skill with the size and digest of each file (SEP-2640, Skill Entries). */
export function skillEntry({ uri, frontmatter, files }: Skill) {
  return {
    uri,
    frontmatter,
    resources: files.map((file) => ({ uri: file.uri, digest: file.digest, size: file.bytes.length })),
  };
}

/** The entry of a skill in the list of resources. */
export function skillResource({ uri, frontmatter: { name, description } }: Skill) {
  return { uri, name, description, mimeType: MARKDOWN };
}

/** What is read at the URI of a file; undefined if no skill has it. */
export function readSkillFile(skills: readonly Skill[], uri: string) {
  for (const { files } of skills) {
    const file = files.find((one) => one.uri === uri);
    if (file === undefined) continue;
    const { text, bytes } = file;
    const content = text === undefined ? { blob: bytes.toString('base64') } : { text };
    return { contents: [{ uri, mimeType: mediaTypeOf(file), ...content }] };
  }
  return undefined;
}

const MARKDOWN = 'text/markdown';

function mediaTypeOf({ uri, text }: SkillFile): string {
  if (text === undefined) return 'application/octet-stream';
  return uri.endsWith('.md') ? MARKDOWN : 'text/plain';
}

/** Parameters are read one by one: the SDK checks only those of the methods that it knows. */
const ANY = {
  '~standard': { version: 1, vendor: 'coursegate', validate: (value: unknown) => ({ value }) },
} as const;

function textOf(params: unknown, name: string): string | undefined {
  const value = (params as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}
