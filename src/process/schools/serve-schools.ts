// Many schools in one process: which there are, and what the process does for all of them.

import { changedKeys, restartFindings } from '../../config/changes.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { awaitStore } from '../../foundation/await-store.ts';
import { configFingerprint } from '../../foundation/foundation.ts';
import { createAudit } from '../../operations/audit.ts';
import { createLogThrottle } from '../../operations/log-throttle.ts';
import { createMetrics } from '../../operations/metrics.ts';
import { observedStore } from '../../operations/observed-store.ts';
import { oneAtATime } from '../../operations/one-at-a-time.ts';
import { createReloads } from '../../operations/reloads.ts';
import { reloadsOneByOne } from '../reload.ts';
import type { ServedGates, ServedParts } from '../served.ts';
import { schoolsAdmin } from './admin.ts';
import { createDeletion } from './deletion.ts';
import { schoolsDispatch } from './dispatch.ts';
import { domainsFile } from './domains-file.ts';
import { HostMap } from './hosts.ts';
import { schoolMoves } from './moves.ts';
import { HostedSchool, type SchoolParts } from './school.ts';
import { knownSchool, schoolIds } from './school-ids.ts';

/** Milliseconds without a request after which the gate of a school is closed, and how often that is looked for meanwhile. */
const IDLE = 10 * 60_000;
const LOOKS = 40;
/** Gates that are open at once, unless more than these are in use. Each has some megabytes. */
const MOST_OPEN = 100;
/** Milliseconds between two looks at what the store knows of the open schools. */
const REVIEW_EVERY = 10_000;
/** Milliseconds between two checks of the mark that a school has a file: long before it counts as removed. */
const MARK_EVERY = 3_600_000;

/** Rejects if the process cannot start; nothing is left open then. */
export async function serveSchools(parts: ServedParts): Promise<ServedGates> {
  const { log, clock, inFlight, draining, storeAwaited, idle = IDLE } = parts;
  let main = parts.loaded;
  const ground = await parts.ground;
  const reviewEvery = Math.min(REVIEW_EVERY, idle);
  const metrics = createMetrics({
    inFlight,
    droppedLines: () => ground.accessLines?.dropped() ?? 0,
    upstreams: () => [],
    events: () => undefined,
    clock,
    reloads: () => reloads.state(),
    unused: () => ({ connections: 0, apps: 0 }),
  });
  const store = observedStore(ground.store, metrics);
  const written = createAudit(log, clock);
  const fingerprint = configFingerprint(ground.secret);
  const audit: typeof written = (event) => {
    written(event);
    metrics.audited(event);
  };
  const reloads = createReloads({ log, audit, clock, fingerprint: fingerprint(main) });

  const schools = new Map<string, HostedSchool>();
  const hosts = new HostMap<HostedSchool>();
  const logRarely = createLogThrottle({ clock, lines: 10, apart: 60_000 });
  const failed = (school: string, err: unknown) =>
    logRarely(school, (suppressed) => log.error({ school, err, suppressed }, 'a school could not be opened'));
  const shared: SchoolParts = {
    ...{ ...parts, ground, failed, contents: new Map(), main: () => main, leaving: new Set() },
    known: (name) => knownSchool(store, name),
  };
  const mark = () => schoolIds(store, main.schools?.files.keys() ?? [], clock);

  const writeDomains = domainsFile(
    () => main.config.domains,
    () => hosts.domains(),
    log,
  );
  const assign = (): void => {
    for (const { school, host, of } of hosts.set(schools.values()))
      log.error({ school: school.name, host, of: of.name }, 'an address of this school belongs to another one');
    writeDomains();
  };
  /** Adds and removes schools as the main file lists them. */
  const list = async (): Promise<void> => {
    const ids = await mark();
    for (const [name, school] of schools) {
      if (ids.has(name)) continue;
      school.remove();
      schools.delete(name);
    }
    for (const name of ids.keys()) {
      if (schools.has(name)) continue;
      const school = new HostedSchool(name, shared);
      schools.set(name, school);
      await school.index();
    }
    assign();
  };
  /** Reads what has changed, school by school. Returns their keys. */
  const refresh = async (): Promise<readonly string[]> => {
    const changed: string[] = [];
    for (const school of [...schools.values()]) {
      if (draining()) return changed;
      if (await school.isUnchanged()) continue;
      changed.push(`schools.${school.name}`);
      const before = JSON.stringify(school.hosts);
      await school.refresh();
      if (JSON.stringify(school.hosts) !== before) assign();
    }
    // A school that was opened, or read again because the main file changed, may have other addresses, too.
    assign();
    return changed;
  };

  /** Closes the gates of schools that were exported, imported or removed, by this process or by another one. */
  const review = async (): Promise<void> => {
    for (const school of schools.values()) await school.review();
    for (const gate of shared.leaving) {
      const known = await knownSchool(store, gate.school.name);
      if (known?.id === gate.school.id && known.movedAt === undefined) continue;
      shared.leaving.delete(gate);
      await gate.close();
    }
  };
  const deletion = createDeletion(ground.raw, store, clock, () => draining() || closed);
  const deleteDue = oneAtATime(deletion.due, 'what removed schools have stored could not be deleted', log);
  let closed = false;

  const close = async (): Promise<void> => {
    closed = true;
    for (const timer of timers) clearInterval(timer);
    await deleteDue.over();
    await Promise.all([...schools.values()].map((school) => school.close()));
    await ground.release();
  };
  const gates = () => [...schools.values()].flatMap((school) => [...school.gates]);
  const look = async (): Promise<void> => {
    const now = performance.now();
    const used = gates()
      .map(({ usedAt }) => usedAt)
      .toSorted((a, b) => b - a);
    const before = Math.max(now - idle, used[MOST_OPEN] ?? 0);
    for (const school of schools.values()) school.release(before);
  };
  const every = (milliseconds: number, work: () => Promise<unknown>, failed: string) =>
    setInterval(oneAtATime(work, failed, log), milliseconds).unref();
  const timers = [
    every(idle / LOOKS, look, 'idle schools could not be closed'),
    every(MARK_EVERY, mark, 'the ids of the schools could not be read'),
    every(reviewEvery, review, 'the schools that have moved could not be looked up'),
    setInterval(deleteDue, MARK_EVERY).unref(),
  ];

  try {
    for (const warning of await awaitStore(ground.check, { log, waiting: storeAwaited })) log.warn(warning);
    await list();
  } catch (thrown) {
    await close();
    throw thrown;
  }
  // Mistakes are logged soon after the start, and what is valid is remembered. It need not wait for that.
  const begin = async (): Promise<void> => {
    await refresh();
    for (const school of schools.values()) if (!draining()) await school.openForEvents();
    deleteDue();
  };
  const reading = begin().catch((err: unknown) => log.error({ err }, 'the schools could not be read'));

  const take = async (load: () => Promise<LoadedConfig>, renew: (loaded: LoadedConfig) => void) => {
    const began = performance.now();
    const loaded = await load();
    if (loaded.schools === undefined) throw new Error('the file lists no schools any more: restart the process');
    const restart = restartFindings(main, loaded);
    if (restart.length > 0) throw loaded.mistaken(restart);
    const keys = changedKeys(main, loaded);
    renew(loaded);
    main = loaded;
    if (keys.includes('log.level')) log.level = loaded.config.log.level;
    await reading;
    await list();
    if (keys.length > 0)
      for (const school of schools.values()) if ([...school.gates].length > 0) await school.refresh();
    const changed = [...keys, ...(await refresh())];
    reloads.taken(changed, fingerprint(loaded), performance.now() - began);
    return changed;
  };
  const sources: ServedGates['sources'] = {
    async asked() {
      await reading;
      return [...schools.values()].flatMap((school) => school.sources?.asked() ?? []);
    },
    async areUnchanged() {
      for (const school of schools.values()) if (!(await school.isUnchanged())) return false;
      return true;
    },
  };
  const dispatch = schoolsDispatch(hosts, metrics.misdirected);
  const moves = schoolMoves({
    ...{ ground, store, schools, deletion, deleteDue, review, reviewEvery, clock, log },
    main: () => main,
  });
  return {
    loaded: () => main,
    ...{ store, metrics, gates, sources, close },
    handlers: {
      dispatch: () => dispatch,
      admin: schoolsAdmin({
        ...{ schools, hosts, ground, store, metrics, audit, moves, log, clock, draining },
        main: () => main,
      }),
      decisions: dispatch.question,
    },
    reloadWith: ({ renewTls }) =>
      reloadsOneByOne(
        (load) =>
          take(load, ({ admin: { mtls } }) => {
            if (draining()) throw new Error('the gate is shutting down');
            if (mtls !== undefined) renewTls(mtls);
          }),
        reloads,
      ),
  };
}
