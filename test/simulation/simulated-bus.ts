import { GatewayError } from '../../src/errors.ts';
import type { Choices } from './choices.ts';
import type { Fault } from './plan.ts';
import type { Scheduler } from './scheduler.ts';
import { currentWork, type Life } from './simulated-time.ts';

export interface BusOptions {
  readonly scheduler: Scheduler;
  readonly choices: Choices;
  readonly faults: readonly Fault[];
  readonly began: number;
  /** A gate is about to send a message. */
  readonly announcing: () => void;
  /** The other gates that run. */
  readonly others: (life: Life) => readonly Life[];
  /** A message arrives at a gate. */
  readonly heard: (life: Life, message: string) => void;
}

/** The bus between gates: messages take time, are lost, or arrive twice. */
export type SimulatedBus = ReturnType<typeof createSimulatedBus>;

export function createSimulatedBus({ scheduler, choices, faults, began, announcing, others, heard }: BusOptions) {
  const trouble = () => {
    const now = scheduler.now() - began;
    const fault = faults.find((one) => one.kind === 'bus' && one.from <= now && now < one.until);
    return fault?.kind === 'bus' ? fault.trouble : undefined;
  };

  return {
    async announce(life: Life): Promise<void> {
      const label = `${currentWork().name} tells`;
      const is = trouble();
      announcing();
      await new Promise<void>((resolve) => scheduler.after(choices.delay(label), () => life.alive && resolve()));
      if (is === 'failing') throw new GatewayError('store_unavailable');
      for (const other of is === 'lost' ? [] : others(life)) {
        for (let copies = is === 'twice' ? 2 : 1; copies > 0; copies -= 1) {
          const to = `${label} ${other.name} ${copies}`;
          const late = is === 'late' ? 8000 * choices.unit(`${to} late`) : 0;
          scheduler.after(late + choices.delay(to), () => other.alive && heard(other, to));
        }
      }
    },
  };
}
