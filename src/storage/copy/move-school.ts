import { rm } from 'node:fs/promises';
import { INDEX_KEY } from '../index-key.ts';
import type { Secrets } from '../seal.ts';
import { isAlive, type RawMutation, type RawStore } from '../store.ts';
import type { Pace } from '../sweep.ts';
import { compared, isSame } from './copy.ts';
import { type CopyProgress, copiedStore } from './entries.ts';
import { type MoveSecrets, openForMove, sealForMove } from './move-secrets.ts';
import { openSchoolFile, portions, writeSchoolFile } from './school-file.ts';

/** Sends a step to the process that has the school (process/schools/moves.ts). */
export type SendStep = <T = unknown>(step: string, given: object) => Promise<T>;

export interface SchoolMove {
  readonly name: string;
  readonly origin: string;
  /** The path of the file, and the secret that it is encrypted with. */
  readonly file: string;
  readonly fileSecret: string;
  /** Those of the process. */
  readonly secrets: Secrets;
  readonly send: SendStep;
  readonly progress: CopyProgress;
  readonly pace: Pace;
}

/** The part of the store of a process that belongs to one school. */
function remoteStore({ send, secrets }: SchoolMove, id: string): Pick<RawStore, 'get' | 'scan' | 'commit'> {
  return {
    get: async () => undefined,
    scan: (_kinds, from) => send('scan', { id, from }),
    async commit(mutations: readonly RawMutation[]) {
      await send('restore', { id, sealed: sealForMove(secrets[0], id, mutations) });
      return true;
    },
  };
}

/**
 * Has a process serve a school no longer, and writes all that it has stored to a file. Returns how many entries. Throws
 * Error if something else still writes.
 */
export async function exportSchool(move: SchoolMove): Promise<number> {
  const { name, origin, file, fileSecret, secrets, send, progress, pace } = move;
  const { id, wait, sealed } = await send<{ id: string; wait: number; sealed: string }>('move', { name });
  await pace.rest(wait);
  const part = copiedStore(remoteStore(move, id), pace.rest);
  const began = pace.now();
  const header = { ...openForMove<MoveSecrets>(secrets, id, sealed), origin };
  await writeSchoolFile(file, fileSecret, header, part.pages(progress('Exporting')));
  const written = await openSchoolFile(file, fileSecret);
  const kinds = await compared(part, written, pace.now() - began, pace.now, progress);
  if (kinds.every(isSame)) return kinds.reduce((sum, { from }) => sum + from.count, 0);
  await rm(file);
  throw new Error(
    'The school has changed meanwhile, so there is no file. Does a gate serve it that is not one of this process and its replicas? Stop that one, and run this again.',
  );
}

/** Takes over a school from a file, in place of one that was never used. Returns how many entries. Throws Error. */
export async function importSchool(move: SchoolMove): Promise<number> {
  const { name, origin, file, fileSecret, secrets, send, progress, pace } = move;
  const { header, pages } = await openSchoolFile(file, fileSecret);
  if (header.origin !== origin)
    throw new Error(
      `The export is of ${header.origin}, and the school "${name}" has ${origin}. Nothing was imported, because tokens and apps belong to an origin.`,
    );
  const began = pace.now();
  const { id } = await send<{ id: string }>('begin', { name });
  const part = copiedStore(remoteStore(move, id), pace.rest);
  const key = { ...INDEX_KEY, payload: header.key, expiresAt: undefined, consumedAt: undefined };
  await part.restore([{ ...key, revision: 1, references: {} }]);
  for await (const page of pages(progress('Importing')))
    for (const some of portions(page.filter((entry) => isAlive(entry, pace.now() / 1000)))) await part.restore(some);
  const kinds = await compared({ pages }, part, pace.now() - began, pace.now, progress);
  if (!kinds.every(isSame))
    throw new Error('What was imported differs from the file, and is not used: run this again.');
  await send('take', { name, id, sealed: sealForMove(secrets[0], id, header) });
  return kinds.reduce((sum, { to }) => sum + to.count, 0);
}
