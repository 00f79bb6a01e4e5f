import type { Plan } from './plan.ts';
import { type Outcome, simulate } from './simulate.ts';

/** Leaves out actions and faults of a plan as long as the same promise is broken. */
export async function shrink(failed: Outcome): Promise<Outcome> {
  const [first] = failed.violations;
  if (first === undefined) return failed;
  let least = failed;
  const isBroken = async (plan: Plan): Promise<boolean> => {
    const outcome = await simulate(plan.seed, { plan });
    const isSame = outcome.violations.some(({ promise }) => promise === first.promise);
    if (isSame) least = outcome;
    return isSame;
  };
  for (let before = -1; before !== sizeOf(least.plan); ) {
    before = sizeOf(least.plan);
    for (const part of ['actions', 'faults'] as const) {
      for (let at = least.plan[part].length - 1; at >= 0; at -= 1) {
        await isBroken({ ...least.plan, [part]: least.plan[part].filter((_, other) => other !== at) } as Plan);
      }
    }
  }
  return least;
}

function sizeOf({ actions, faults }: Plan): number {
  return actions.length + faults.length;
}
