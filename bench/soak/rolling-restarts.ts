import { startLoad, warmUp } from './mix.ts';
import { setStage } from './stage.ts';
import { everyOneHolds } from './works/connections.ts';

export interface RollingOptions {
  /** In each round, both replicas are restarted, one after the other. */
  readonly rounds: number;
  readonly perSecond: number;
  readonly folder: string;
}

export interface RollingOutcome {
  /** The replicas' exit codes. */
  readonly exits: readonly (number | null)[];
  /** Pieces of work that were started during the restarts, and requests that were retried, by cause. */
  readonly done: number;
  readonly troubles: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
  /** Connections that still work at the end; each is tried. */
  readonly held: number;
  /** In seconds. */
  readonly took: number;
}

/** Two replicas on one Redis behind HAProxy, under mixed load, while each is stopped with SIGTERM and started again. */
export async function runRollingRestarts({ rounds, perSecond, folder }: RollingOptions): Promise<RollingOutcome> {
  const stage = await setStage({ store: 'redis', alone: false, folder, say: () => undefined });
  try {
    const { gate, victim, balancer, weather } = stage;
    const [whole] = stage.places;
    if (whole === undefined || victim === undefined || balancer === undefined) throw new Error('there are no replicas');
    // The admin listener belongs to one replica, which is unavailable while it restarts.
    const place = { ...whole, admin: undefined };
    await warmUp(place, 1);
    const troubled = place.ledger.troubles.well;
    weather.over = false;
    const began = Date.now();
    const load = startLoad(place, perSecond);
    const exits: (number | null)[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, replica] of [gate, victim].entries()) {
        exits.push(await replica.stop());
        await replica.start();
        await balancer.takes(at);
      }
    }
    weather.over = true;
    await load.stop();
    const took = (Date.now() - began) / 1000;
    const { counts, faults } = place.ledger;
    const held = await everyOneHolds(place);
    const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const troubles = Object.fromEntries(
      Object.entries(place.ledger.troubles.well)
        .map(([what, count]) => [what, count - (troubled[what] ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
    return { exits, done, troubles, faults, held, took };
  } finally {
    for (const close of stage.closers.toReversed()) await close();
  }
}
