import { restartFindings } from '../../config/changes.ts';
import { ConfigError, type LoadedConfig, sourceFilesOf } from '../../config/load.ts';
import { formatProblem } from '../../config/problems.ts';
import type { KeptContents, SourceFiles } from '../../config/source-files.ts';
import { type Ground, groundFor } from '../../foundation/ground.ts';
import type { RequestsInFlight } from '../../http/requests-in-flight.ts';
import type { Log } from '../../operations/log.ts';
import { type GateParts, type OpenGate, openGate } from '../gate.ts';
import { createReload } from '../reload.ts';
import { checkSchool } from './check-school.ts';
import { hostsIn, loadedAt, readHosts, type SchoolHost } from './hosts.ts';
import { furtherSecretsOf, type KnownSchool } from './school-ids.ts';

/** Seconds for requests in flight at a school that moves. */
export const MOVING_GRACE = 3;

/** What the schools of a process share. */
export interface SchoolParts extends GateParts {
  readonly ground: Ground;
  readonly inFlight: RequestsInFlight;
  readonly log: Log;
  /** Files that many schools have are in memory once. */
  readonly contents: KeptContents;
  /** Logs that a school could not be opened. */
  readonly failed: (school: string, reason: unknown) => void;
  /** What the store knows of a school now. Throws GatewayError `store_unavailable`. */
  readonly known: (name: string) => Promise<KnownSchool | undefined>;
  /** Gates that are being closed while the last requests finish. */
  readonly leaving: Set<OpenedGate>;
  /** The configuration of the process, as it is now. */
  readonly main: () => LoadedConfig;
}

export interface OpenedGate extends OpenGate {
  readonly school: Pick<KnownSchool, 'name' | 'id'>;
  /** Marks its requests among those of all gates. */
  readonly mark: object;
  /** Milliseconds, as `performance.now()` counts them. */
  usedAt: number;
}

/**
 * One school. While nobody asks for it, it is only the files that it was last valid with. Its gates, one for each origin
 * that it is served at, are opened by a request and closed when there was none for a while.
 */
export class HostedSchool {
  readonly name: string;
  readonly #parts: SchoolParts;
  readonly #log: Log;
  readonly #gates = new Map<string, OpenedGate>();
  readonly #opening = new Map<string, Promise<OpenedGate>>();
  /** As they were when the configuration was last valid. */
  #valid: SourceFiles | undefined;
  /** As they were last read. */
  #read: SourceFiles | undefined;
  #mistake: Error | undefined;
  #sendsEvents = false;
  /** Whether it was exported when that was last looked up: it is not served then. */
  isMoved = false;
  /** The addresses of the last valid configuration, or of the file where none was loaded yet. */
  hosts: readonly SchoolHost[] = [];

  constructor(name: string, parts: SchoolParts) {
    this.name = name;
    this.#parts = parts;
    this.#log = parts.log.child({ school: name });
  }

  /** Why its file cannot be used; undefined if it can, or was not read yet. */
  get mistake(): Error | undefined {
    return this.#mistake;
  }

  /** Whether its file has a mistake and none was valid before, so that nothing is served. */
  get isRefused(): boolean {
    return this.#mistake !== undefined && this.#valid === undefined;
  }

  get gates(): Iterable<OpenedGate> {
    return this.#gates.values();
  }

  get sources(): SourceFiles | undefined {
    return this.#read;
  }

  /** The open gate of an origin. */
  openedAt(origin: string): OpenedGate | undefined {
    return this.#gates.get(origin);
  }

  /** Opens the gate of an origin. Rejects if it cannot be opened; the next request tries again. */
  openAt(origin: string): Promise<OpenedGate> {
    const open = async (): Promise<OpenedGate> => {
      try {
        return await this.#open(origin);
      } catch (thrown) {
        if (thrown !== this.#mistake && !this.isMoved) this.#parts.failed(this.name, thrown);
        throw thrown;
      } finally {
        this.#opening.delete(origin);
      }
    };
    const opening = this.#opening.get(origin) ?? open();
    this.#opening.set(origin, opening);
    return opening;
  }

  async #open(origin: string): Promise<OpenedGate> {
    const { ground, inFlight, clock } = this.#parts;
    const log = this.#log;
    const mark = {};
    // A replica may have moved, imported or removed it.
    const known = await this.#served();
    if (known === undefined) throw new Error('this school is not served here');
    const { id } = known;
    const opened = await openGate({
      ...this.#parts,
      ground: groundFor(ground, id, { name: this.name, log, clock, further: furtherSecretsOf(known, clock()) }),
      loaded: loadedAt(await this.#loaded(), origin),
      inFlight: inFlight.of(mark),
      log,
    });
    const gate = { ...opened, school: { name: this.name, id }, mark, usedAt: performance.now() };
    this.#gates.set(origin, gate);
    return gate;
  }

  async #served(): Promise<KnownSchool | undefined> {
    const known = await this.#parts.known(this.name);
    this.isMoved = known?.movedAt !== undefined;
    return this.isMoved ? undefined : known;
  }

  /** The last valid configuration. A file with mistakes is not read again before it changes. */
  async #loaded(): Promise<LoadedConfig> {
    if (this.#valid === undefined && this.#mistake === undefined) await this.refresh();
    const valid = this.#valid as SourceFiles | undefined;
    if (valid === undefined) throw this.#mistake;
    return this.#load(valid.again());
  }

  #load(sources: SourceFiles): Promise<LoadedConfig> {
    const { schools } = this.#parts.main();
    if (schools === undefined) throw new Error('The main file lists no schools any more.');
    return schools.load(this.name, sources);
  }

  /** Whether its files are as they were when they were last read. */
  async isUnchanged(): Promise<boolean> {
    return this.#read !== undefined && (await this.#read.areUnchanged());
  }

  /** Reads the addresses in its file, without validating the rest. Logs and keeps a mistake. */
  async index(): Promise<void> {
    const file = this.#parts.main().schools?.files.get(this.name) ?? '';
    this.hosts = await readHosts(file, sourceFilesOf(file)).catch((thrown) => {
      this.#refused(thrown);
      return [];
    });
  }

  /**
   * Reads its files again and takes them over, or keeps what was valid before. Never rejects. Requests in flight end under
   * what they began with.
   */
  async refresh(): Promise<void> {
    const file = this.#parts.main().schools?.files.get(this.name) ?? '';
    const sources = sourceFilesOf(file, this.#parts.contents);
    this.#read = sources;
    try {
      const { loaded } = await checkSchool(this.#parts.main(), this.name, sources);
      this.#valid = sources;
      this.#mistake = undefined;
      this.hosts = hostsIn(loaded.written.tree);
      this.#sendsEvents = loaded.config.events !== undefined;
      await this.#renew(loaded);
    } catch (thrown) {
      this.#refused(thrown);
    }
  }

  /** Gives the open gates a new configuration. Those that cannot take it over are opened again with the next request. */
  async #renew(loaded: LoadedConfig): Promise<void> {
    for (const [origin, gate] of this.#gates) {
      const { foundation, generations } = gate;
      const next = loadedAt(loaded, origin);
      const stays = this.hosts.some((host) => host.origin === origin && host.kind === 'serve');
      if (!stays || restartFindings(generations.current().loaded, next).length > 0) void this.#leave(origin, gate);
      else
        await createReload({ foundation, generations, listeners: { renewTls() {} }, draining: this.#parts.draining })(
          async () => next,
        );
    }
  }

  #refused(thrown: unknown): void {
    this.#mistake = thrown as Error;
    const problems =
      thrown instanceof ConfigError && thrown.problems.map((one) => formatProblem({ ...one, frame: undefined }));
    const kept = this.#valid === undefined ? 'it is not served' : 'its last valid one serves on';
    this.#log.error(
      problems === false ? { err: thrown } : { problems },
      `the configuration of this school is refused: ${kept}`,
    );
  }

  /** Opens its gate if it sends events, so that those that were left waiting are delivered without a request. */
  async openForEvents(): Promise<void> {
    const [first] = this.hosts;
    if (!this.#sendsEvents || first === undefined || this.#gates.has(first.origin)) return;
    const gate = await this.openAt(first.origin).catch((err: unknown) => {
      if (!this.isMoved) this.#log.error({ err }, 'events are not sent');
    });
    if (gate) gate.usedAt = 0;
  }

  /** Closes gates that no request has used since `before`, as `performance.now()` counts. */
  release(before: number): void {
    for (const [origin, gate] of this.#gates)
      if (gate.usedAt < before && gate.generations.current().isIdle()) void this.#leave(origin, gate);
  }

  /** Closes the gates of a school that was exported, or whose id is another one now. Requests in flight have some seconds. */
  async review(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    if (this.#gates.size === 0) return;
    const known = await this.#served();
    const gone = [...this.#gates].filter(([_, gate]) => gate.school.id !== known?.id);
    await Promise.all(gone.map(([origin, gate]) => this.#leave(origin, gate, MOVING_GRACE)));
  }

  /** Closes all gates: the school is served no longer. */
  remove(): void {
    for (const [origin, gate] of this.#gates) void this.#leave(origin, gate);
  }

  async #leave(origin: string, gate: OpenedGate, grace = this.#parts.main().config.reload.grace): Promise<void> {
    this.#gates.delete(origin);
    this.#parts.leaving.add(gate);
    await gate.retire(grace).catch((err: unknown) => this.#log.error({ err }, 'an idle gate could not be closed'));
    this.#parts.leaving.delete(gate);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await Promise.all([...this.#gates.values()].map((gate) => gate.close()));
  }
}
