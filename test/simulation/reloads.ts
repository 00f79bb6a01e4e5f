import type { LoadedConfig } from '../../src/config/load.ts';
import type { Generation, GenerationParts } from '../../src/generation/generation.ts';
import { retire } from '../../src/generation/retire.ts';
import { RequestsInFlight } from '../../src/http/requests-in-flight.ts';
import { createGenerations } from '../../src/process/generations.ts';
import { createReload } from '../../src/process/reload.ts';
import { createInFlight, type InFlight } from '../../src/request/in-flight.ts';
import type { Choices } from './choices.ts';
import type { SimulatedGate } from './gate.ts';
import { realWork } from './key-work.ts';
import type { Scheduler } from './scheduler.ts';
import type { Life } from './simulated-time.ts';

/** Seconds. No request takes longer. */
const GRACE = 60;
const NOTHING = () => {};
const LOG = { info: NOTHING, warn: NOTHING, error: NOTHING } as never;

/** A configuration as it was loaded. */
interface Loaded {
  readonly version: number;
  readonly config: LoadedConfig;
}

/** What was built from one: only that is another one after a reload. */
interface Built {
  readonly loaded: LoadedConfig;
  readonly inFlight: InFlight;
  isClosed: boolean;
}

interface ReloadingOptions {
  readonly gate: SimulatedGate;
  readonly life: Life;
  readonly scheduler: Scheduler;
  readonly choices: Choices;
  readonly say: (who: string, what: string, answer?: string) => void;
  readonly broken: (what: string) => void;
}

/** Reloads of one gate, with the code that the process reloads with. What it builds is simulated. */
export type Reloading = ReturnType<typeof createReloading>;

export function createReloading({ gate, life, scheduler, choices, say, broken }: ReloadingOptions) {
  const requests = new RequestsInFlight();
  const builds = new Map<LoadedConfig, Built>();
  let versions = 0;
  /** The last that was asked for and not refused. */
  let last: Loaded | undefined;
  let building = NOTHING;
  const wait = (milliseconds: number) =>
    new Promise<void>((resolve) => scheduler.after(milliseconds, () => life.alive && resolve()));
  const loadedOf = (isCertificateBad: boolean): Loaded => {
    versions += 1;
    return { version: versions, config: configOf(versions, isCertificateBad) };
  };

  const create = async (loaded: LoadedConfig): Promise<Generation> => {
    building();
    building = NOTHING;
    const built: Built = { loaded, inFlight: createInFlight(requests), isClosed: false };
    const { inFlight } = built;
    builds.set(loaded, built);
    await wait(versions === 1 ? 0 : choices.delay(`${life.name} builds ${versions}`));
    const generation = gate.newGeneration();
    const close = async () => {
      built.isClosed = true;
      generation.release();
    };
    const made = {
      loaded,
      generation,
      start: () => gate.use(generation),
      hangUp: NOTHING,
      pools: { all: () => [] },
      retire: (seconds: number, signal: AbortSignal) =>
        retire({ stop: async () => {}, inFlight, site: undefined, close }, seconds, signal),
      close,
    };
    return made as never;
  };
  const generations = createGenerations({ foundation: { log: LOG } } as unknown as GenerationParts, create as never);
  const first = loadedOf(false);
  void generations.begin(first.config);
  const reload = createReload({
    foundation: { reloads: { taken: NOTHING, refused: NOTHING } as never, fingerprint: () => '', log: LOG },
    generations,
    listeners: {
      renewTls(given) {
        if ('isBad' in given) throw new Error('simulated: the certificate does not fit its key');
      },
    },
    draining: () => false,
  });
  const currentVersion = () => versionOf(generations.current().loaded);

  return {
    /** Waits for what a request does, as long as what serves it is not closed. */
    during<T>(running: Promise<T>, name: string): Promise<T> {
      const built = builds.get(generations.current().loaded);
      if (built === undefined) return running;
      const request = { endSteps: [], owner: undefined } as never;
      built.inFlight.take(request, []);
      return running.finally(() => {
        if (built.isClosed) broken(`${name} was cut off by a reload`);
        built.inFlight.closed(request);
      });
    },

    /** Loads a configuration, which may be mistaken. Returns what became of it. */
    async reload(name: string): Promise<'taken' | 'refused'> {
      const how = choices.pick(`${name} how`, ['good', 'good', 'good', 'mistaken', 'certificate'] as const);
      const next = loadedOf(how === 'certificate');
      if (how === 'good') last = next;
      say('operator', `${name} of ${life.name}`, `version ${next.version}, ${how}`);
      const outcome = await reload(async () => {
        await wait(60 * choices.unit(`${name} takes`));
        if (how === 'mistaken') throw new Error('simulated: a mistake in the configuration');
        // What follows reads a module. It is not simulated, and no time passes meanwhile.
        building = realWork();
        return next.config;
      });
      building();
      building = NOTHING;
      const serving = currentVersion();
      say('operator', `${name} of ${life.name}`, `${outcome.kind}, version ${serving} serves`);
      if (outcome.kind === 'refused' && how === 'good') throw outcome.why;
      if (outcome.kind === 'refused' && serving === next.version)
        broken(`version ${serving} serves at ${life.name}, which was refused`);
      if (outcome.kind === 'taken' && serving < next.version)
        broken(`version ${serving} serves at ${life.name} after version ${next.version} was taken over`);
      return outcome.kind;
    },

    async close(): Promise<void> {
      if (life.alive && last !== undefined && currentVersion() !== last.version)
        broken(`version ${currentVersion()} serves at ${life.name}, and version ${last.version} was loaded last`);
      await generations.close();
    },
  };
}

function versionOf({ config }: LoadedConfig): number {
  return (config as unknown as { version: number }).version;
}

/** As much of a configuration as a reload looks at. */
function configOf(version: number, isCertificateBad: boolean): LoadedConfig {
  return {
    config: { version, reload: { grace: GRACE }, log: { level: 'info' }, login: { kind: 'session' } },
    profile: 'B',
    secrets: new Map(),
    members: undefined,
    logo: undefined,
    languages: [],
    upstreamDocuments: new Map(),
    accountFiles: undefined,
    admin: { mtls: isCertificateBad ? { isBad: true } : {} },
    mistaken: () => new Error('simulated: this needs a restart'),
  } as unknown as LoadedConfig;
}
