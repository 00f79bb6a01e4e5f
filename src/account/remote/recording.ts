import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BreakingChangeType, buildSchema, DangerousChangeType, findSchemaChanges, type GraphQLSchema } from 'graphql';
import type { LoadedConfig } from '../../config/load.ts';
import { createCallUpstream } from '../../upstream/call.ts';
import { createPools } from '../../upstream/pools.ts';
import type { CallUpstream } from '../../upstream/request.ts';
import type { Mapping } from '../connect/mapping.ts';
import { MappingValueError } from '../connect/mapping-value.ts';
import { Mistakes } from '../connect/mistakes.ts';
import { readMapping } from '../connect/read-mapping.ts';
import { fillHeader } from '../connect/template.ts';
import { type Contract, loadTypeMerger, readContract } from '../contract.ts';
import { joinRemoteFields } from './check.ts';
import { type GraphqlSource, introspect, recordedText } from './introspection.ts';
import type { RecordedFile } from './recorded.ts';

/** Recording is not possible. The message is for the operator. */
class RecordingError extends Error {}

/** Writes the schemas of the GraphQL upstreams to the configured files. Returns a line for each. */
export async function pullSchemas(loaded: LoadedConfig, only?: string): Promise<readonly string[]> {
  return await eachUpstream(loaded, only, async ({ source, recorded }, call) => {
    const text = recordedText(await introspect(call, source));
    if (text === recorded.text) return `${source.upstream}: no change in ${recorded.file}`;
    await mkdir(dirname(recorded.file), { recursive: true });
    // Written atomically, since a gate may be starting.
    await writeFile(`${recorded.file}.new`, text);
    await rename(`${recorded.file}.new`, recorded.file);
    return `${source.upstream}: ${recorded.text === undefined ? 'recorded' : 'updated'} in ${recorded.file}`;
  });
}

/**
 * Compares the schemas of the GraphQL upstreams with the recorded ones. Returns a line for each mistake that the mapping
 * would then have, and for each difference, the most severe first.
 */
export async function compareSchemas(loaded: LoadedConfig, only?: string): Promise<readonly string[]> {
  const all = await eachUpstream(loaded, only, async ({ source, recorded, contract, mapping }, call) => {
    const { upstream } = source;
    if (recorded.text === undefined) return [`${upstream}: ${recorded.file} does not exist yet`];
    // Built from its text, because a missing description differs between SDL and an introspection result.
    const live = buildSchema(recordedText(await introspect(call, source)));
    const mistakes = new Mistakes();
    joinRemoteFields(contract.schema, mapping, new Map([[upstream, live]]), mistakes);
    return [
      ...mistakes.lines().map((line) => `${upstream}: would break the mapping: ${line}`),
      ...differences(buildSchema(recorded.text), live).map((line) => `${upstream}: ${line}`),
    ];
  });
  return all.flat();
}

const BREAKING: ReadonlySet<string> = new Set(Object.values(BreakingChangeType));
const DANGEROUS: ReadonlySet<string> = new Set(Object.values(DangerousChangeType));

/** The changes to an upstream's schema since it was recorded, one line each: the most severe first. */
function differences(recorded: GraphQLSchema, live: GraphQLSchema): readonly string[] {
  const changes = Map.groupBy(findSchemaChanges(recorded, live), ({ type }) =>
    BREAKING.has(type) ? 'breaking' : DANGEROUS.has(type) ? 'dangerous' : 'safe',
  );
  return (['breaking', 'dangerous', 'safe'] as const).flatMap((severity) =>
    (changes.get(severity) ?? []).map(({ description }) => `${severity}: ${description}`).sort(),
  );
}

interface Recording {
  readonly source: GraphqlSource;
  readonly recorded: RecordedFile;
  readonly contract: Contract;
  readonly mapping: Mapping;
}

/** Calls are made on connection pools like the gate's but without a member, since a schema is not member data. */
async function eachUpstream<T>(
  loaded: LoadedConfig,
  only: string | undefined,
  work: (recording: Recording, call: CallUpstream) => Promise<T>,
): Promise<readonly T[]> {
  const { config, accountFiles: files, accountConfig } = loaded;
  if (files === undefined) throw new RecordingError('The configuration has no Account API.');
  const { contract, mapping } = await readFiles(loaded, files);
  const named = [...mapping.sources].filter(([name, { graphql }]) => {
    return graphql !== undefined && (only === undefined || only === name);
  });
  if (named.length === 0)
    throw new RecordingError(`No @source with graphql${only === undefined ? '' : ` is named "${only}"`}.`);
  const pools = createPools(config.upstreams);
  const call = createCallUpstream({ ...config, pools, identity: async () => ({}) });
  try {
    const done: T[] = [];
    for (const [upstream, { graphql, headers }] of named) {
      const recorded = files.recorded.find((file) => file.upstream === upstream);
      if (recorded === undefined) throw new RecordingError(`account.upstreamSchemas has no entry for "${upstream}".`);
      const variables = { context: {}, config: { ...accountConfig.open, ...accountConfig.secret } };
      const filled = headers.flatMap(([name, template]) => headerOf(name, () => fillHeader(template, variables)));
      const source = { upstream, path: graphql?.path ?? '', headers: Object.fromEntries(filled) };
      done.push(await work({ source, recorded, contract, mapping }, call));
    }
    return done;
  } finally {
    await pools.close();
  }
}

/** Omits a header whose value depends on the member, since there is none here. */
function headerOf(name: string, fill: () => string): readonly (readonly [string, string])[] {
  try {
    return [[name, fill()]];
  } catch (thrown) {
    if (thrown instanceof MappingValueError) return [];
    throw thrown;
  }
}

async function readFiles({ config, accountConfig }: LoadedConfig, files: NonNullable<LoadedConfig['accountFiles']>) {
  const mistakes = new Mistakes();
  const contract = readContract(files.schema, mistakes, await loadTypeMerger(files.schema));
  const names = {
    upstreams: Object.keys(config.upstreams),
    config: { open: Object.keys(accountConfig.open), secret: Object.keys(accountConfig.secret) },
  };
  const mapping = readMapping(files.mappings, contract.schema, names, mistakes);
  mistakes.throwIfAny();
  return { contract, mapping };
}
