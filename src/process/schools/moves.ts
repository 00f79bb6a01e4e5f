import type { CommandedBy } from '../../authorization-server/administration/account-control.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { GatewayError } from '../../errors.ts';
import type { Ground } from '../../foundation/ground.ts';
import { type AuditAction, createAudit } from '../../operations/audit.ts';
import type { Log } from '../../operations/log.ts';
import { type MoveSecrets, openForMove, sealForMove } from '../../storage/copy/move-secrets.ts';
import { INDEX_KEY } from '../../storage/index-key.ts';
import { namespacedStore } from '../../storage/namespace.ts';
import type { Reseal } from '../../storage/reseal.ts';
import { schoolSecrets } from '../../storage/seal.ts';
import { isSharedStore } from '../../storage/sql/settings.ts';
import type { Clock, Mutation, RawMutation, Store } from '../../storage/store.ts';
import type { createDeletion } from './deletion.ts';
import { type HostedSchool, MOVING_GRACE } from './school.ts';
import {
  forget,
  former,
  furtherSecretsOf,
  isFormerSchool,
  type KnownSchool,
  knownSchool,
  knownSchools,
  newSchoolId,
  noLongerFormer,
  REMOVED_AFTER,
  write,
} from './school-ids.ts';

/** Entries that one step reads. */
const STEP = 200;
/** Entries that one step seals again. */
const RESEALED = 1000;
/** Milliseconds for which cookies that were signed where a school came from are accepted. */
const SECRETS_FOR = 60 * 24 * 3_600_000;
/** What a school has that members and apps have used. */
const USED_KINDS = ['Client', 'Grant'];

interface MoveParts {
  readonly ground: Ground;
  readonly store: Store;
  readonly schools: ReadonlyMap<string, HostedSchool>;
  readonly main: () => LoadedConfig;
  readonly deletion: ReturnType<typeof createDeletion>;
  /** Begins to delete what is due, unless that is being done. */
  readonly deleteDue: () => void;
  /** Closes the gates of schools that moved, as each process does from time to time. */
  readonly review: () => Promise<void>;
  /** In milliseconds. */
  readonly reviewEvery: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a step of a move is given, beside who asks for it. */
export interface MoveStep {
  readonly name: string;
  readonly id: string;
  readonly from: string | undefined;
  /** What only a command with the secret of the process can have written. */
  readonly sealed: string;
}

export type SchoolMoves = Readonly<Record<string, (step: MoveStep, decision: CommandedBy) => Promise<object>>>;

/**
 * The steps of `school export`, `import` and `remove`. Entries are sent as they are sealed, and secrets are sealed with a key
 * that is derived from the process's secret, which the command has, too. Each throws GatewayError.
 */
export function schoolMoves({ ground, store, clock, log, review, reviewEvery, ...parts }: MoveParts): SchoolMoves {
  const of = async (name: string, listed: boolean) => {
    const known = await knownSchool(store, name);
    if (known === undefined || (listed && !parts.schools.has(name)))
      throw new GatewayError('not_found', { message: `There is no school "${name}".` });
    return known;
  };
  const commit = async (...mutations: readonly Mutation[]): Promise<void> => {
    if (!(await store.commit(mutations, 'vital'))) throw conflict('Another command changes this school: try again.');
    await review();
  };
  const audit = (school: string, action: AuditAction, decision: CommandedBy) =>
    createAudit(log.child({ school }), clock)({ action, ...decision });
  /** Milliseconds until every replica has noticed. */
  const wait = () => (isSharedStore(parts.main().config.store.kind) ? reviewEvery + (MOVING_GRACE + 2) * 1000 : 0);
  const assertUnused = async ({ name, id }: KnownSchool): Promise<void> => {
    let from: string | undefined;
    do {
      const { entries, next } = await namespacedStore(ground.raw, id).scan(USED_KINDS, from, STEP);
      if (entries.length > 0) throw conflict(`The school "${name}" has been used: import into one with a new name.`);
      from = next;
    } while (from !== undefined);
  };
  const assertBegun = async (id: string): Promise<void> => {
    if (!(await isFormerSchool(store, id))) throw conflict('No import has begun below this id.');
  };
  /** The pass that was begun last, since the start. */
  let resealing: Reseal | undefined;

  return {
    async move({ name }, decision) {
      const { revision, ...known } = await of(name, true);
      const { id } = known;
      const key = (await namespacedStore(ground.raw, id).get(INDEX_KEY.kind, INDEX_KEY.id))?.payload;
      if (key === undefined) throw conflict(`The school "${name}" has not stored anything.`);
      await commit(write({ ...known, movedAt: known.movedAt ?? clock() }, revision));
      audit(name, 'school_exported', decision);
      const secrets = [...schoolSecrets(ground.secrets, id), ...furtherSecretsOf(known, clock())];
      return { id, wait: wait(), sealed: sealForMove(ground.secret, id, { secrets, key } satisfies MoveSecrets) };
    },
    async resume({ name }, decision) {
      const { revision, movedAt, ...known } = await of(name, true);
      if (movedAt === undefined) throw conflict(`The school "${name}" is served here.`);
      await commit(write(known, revision));
      audit(name, 'school_resumed', decision);
      return { name };
    },
    async scan({ id, from }) {
      return namespacedStore(ground.raw, id).scan(undefined, from, STEP);
    },
    async begin({ name }) {
      await assertUnused(await of(name, true));
      const id = newSchoolId();
      // Deleted in a day, unless it is taken over until then.
      await commit(former(id, clock()));
      return { id };
    },
    async restore({ id, sealed }) {
      await assertBegun(id);
      await namespacedStore(ground.raw, id).commit(openForMove<readonly RawMutation[]>(ground.secrets, id, sealed));
      return {};
    },
    async take({ name, id, sealed }, decision) {
      const known = await of(name, true);
      await assertUnused(known);
      await assertBegun(id);
      const { secrets } = openForMove<MoveSecrets>(ground.secrets, id, sealed);
      await commit(write({ name, id, secrets }, known.revision), former(known.id, clock()), noLongerFormer(id));
      audit(name, 'school_imported', decision);
      return { id };
    },
    /** All entries are sealed with the school's own secret here. */
    async settle({ name }) {
      const { revision, ...known } = await of(name, true);
      await commit(write({ ...known, secretsUntil: clock() + SECRETS_FOR }, revision));
      return {};
    },
    async remove({ name }, decision) {
      if (parts.main().schools?.files.has(name) === true)
        throw conflict(`The file of the school "${name}" is still there. Remove it first, and reload.`);
      const { revision, ...known } = await of(name, false);
      const waits = wait();
      await commit(write(known, revision), forget(name), former(known.id, clock() - REMOVED_AFTER + waits));
      audit(name, 'school_removed', decision);
      return { id: known.id, wait: waits };
    },
    /** Seals a part of the whole store with the first secret, as /store/reseal of one school does. */
    async reseal({ from }, decision) {
      if (from === undefined) {
        const known = await knownSchools(store);
        resealing = ground.resealWith(new Map(known.map((one) => [one.id, furtherSecretsOf(one, clock())])));
      }
      if (resealing === undefined) throw conflict('The process was restarted meanwhile: run this again.');
      const step = await resealing(from, RESEALED);
      if (step.next === undefined) createAudit(log, clock)({ action: 'store_resealed', ...decision });
      return step;
    },
    /** How far the deletion is. */
    async removal({ id }) {
      parts.deleteDue();
      return { ...parts.deletion.of(id), done: !(await isFormerSchool(store, id)) };
    },
  };
}

function conflict(message: string): GatewayError {
  return new GatewayError('conflict', { message });
}
