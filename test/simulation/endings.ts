import { APP } from './approvals.ts';
import { type ClientParts, failureOf, type Holder, inRequest, REVOCATION } from './client-parts.ts';
import type { SimulatedGate } from './gate.ts';
import type { Connection, End } from './known.ts';
import type { Action } from './plan.ts';

/** One way to end connections. */
interface Ending {
  readonly who: string;
  /** What it is about. */
  readonly connections: () => readonly Connection[];
  readonly run: (gate: SimulatedGate) => Promise<{ readonly status: number; readonly body?: unknown }>;
  readonly as?: End['as'];
  /** It also ends what this member is approving. */
  readonly member?: string;
  readonly acknowledged?: (life: string) => void;
}

const DECISION = {
  by: 'operator',
  reason: undefined,
  certificate: undefined,
  address: undefined,
  requestId: undefined,
} as const;
const MOST_TRIES = 3;
const DONE = { status: 200 } as const;

/** Members, apps and operators who end connections. */
export function createEndings({ world, promises, plan }: ClientParts, holders: readonly Holder[]) {
  const { choices, scheduler, say } = world;
  /** What was begun, by member. */
  const begun = new Map<string, string>();
  let resumes = 0;
  /** Those that have begun and may still take effect. One without an answer may do so at any time. */
  const resuming = new Set<number>();

  /** They repeat it until it is acknowledged. `first`: the life that was asked first. */
  const end = (action: Action, ending: Ending, tries = 1, first?: string): void => {
    const { who, connections, run, as = 'revoked', member, acknowledged } = ending;
    const name = `${action.kind} ${action.id}${tries === 1 ? '' : ` try ${tries}`}`;
    let about: readonly Connection[] = [];
    // RFC 7009: a token that is not known is answered as if it had been revoked. The gate says nothing of the connection then.
    const cause = `${action.kind} ${action.id}`;
    // Another life that is asked again knows nothing of the first try.
    const isFirst = ({ causes }: Connection) =>
      action.kind !== 'app revokes' || (causes.size === 1 && (first ?? asked) === asked);
    let start = world.now();
    let asked = '';
    const again = () => {
      if (tries === MOST_TRIES) return;
      const pause = 50 + 1000 * choices.unit(`${name} waits`);
      scheduler.after(pause, () => end(action, ending, tries + 1, first ?? asked));
    };
    world.ask(
      action.gate,
      { name, role: action.kind, about: connections()[0]?.name ?? '', yields: true },
      (gate) => inRequest(() => run(gate)).catch(failureOf),
      {
        begun(life) {
          if (life === undefined) return;
          about = connections();
          start = world.now();
          asked = life.name;
          say(who, action.kind, `at ${life.name}`);
          promises.ending(about, cause);
          if (member !== undefined) begun.set(member, action.kind);
        },
        done(answer, life) {
          if (answer === undefined || life === undefined) {
            say(who, action.kind, 'has no answer');
            again();
            return;
          }
          scheduler.after(choices.delay(`${name} received`), () => {
            say(who, action.kind, String(answer.status));
            promises.failed(answer.status, answer.body, name, start);
            if (answer.status >= 500) again();
            if (answer.status !== 200) return;
            promises.ended(about.filter(isFirst), life.name, as);
            acknowledged?.(life.name);
          });
        },
      },
    );
  };

  const of = (member: string) => () =>
    holders.flatMap(({ connection }) => (connection?.member === member ? [connection] : []));
  const memberOf = ({ connection }: Action): string => plan.members[connection] ?? '';

  return {
    /** Why a connection that this member has just approved may have ended already. */
    begunFor: (member: string): string | undefined => begun.get(member),

    /** On the page of connected apps (src: connected-apps/disconnect.ts). */
    cutOff(action: Action, connection: Connection): void {
      const { member, grantId } = connection;
      const run: Ending['run'] = async ({ server }) => {
        for (;;) {
          const listed = await server.grants.list({ member }, 50);
          const ids = listed.filter(({ id }) => id === grantId).map(({ id }) => id);
          const ended = await server.grants.revokeEach(ids, { member }, { by: 'member', reason: 'disconnected' });
          if (ended.length === 0) return DONE;
        }
      };
      end(action, { who: member, connections: () => [connection], run });
    },

    /** RFC 7009. */
    revoke(action: Action, { refresh, replaced, access }: Holder): void {
      const token = choices.pick(`revokes ${action.id}`, [refresh, access.at(-1), replaced]) ?? refresh;
      if (token === undefined) return;
      const form = { token: token.value, client_id: APP };
      const run: Ending['run'] = (gate) => gate.post(REVOCATION, form);
      end(action, { who: `app ${token.connection.number}`, connections: () => [token.connection], run });
    },

    endGrant(action: Action, connection: Connection): void {
      const run: Ending['run'] = async ({ server }) => {
        await server.controls.account.revokeGrant(connection.grantId, DECISION);
        return DONE;
      };
      end(action, { who: 'operator', connections: () => [connection], run });
    },

    suspend(action: Action): void {
      const member = memberOf(action);
      let before = resumes;
      let isAlone = true;
      const run: Ending['run'] = async ({ server }) => {
        before = resumes;
        isAlone = resuming.size === 0;
        promises.suspending(member);
        await server.controls.account.suspendMember(member, DECISION);
        return DONE;
      };
      const acknowledged = (life: string) => {
        // At the same time, either may come last.
        if (!isAlone || before !== resumes) return;
        promises.suspended(member);
        // Those that were approved meanwhile are cut off, too.
        promises.ended(of(member)(), life, 'suspended');
      };
      end(action, { who: 'operator', connections: of(member), run, as: 'suspended', member, acknowledged });
    },

    resume(action: Action): void {
      const member = memberOf(action);
      const run: Ending['run'] = async ({ server }) => {
        resumes += 1;
        const own = resumes;
        resuming.add(own);
        promises.resuming(member);
        await server.controls.account.resumeMember(member, DECISION);
        resuming.delete(own);
        return DONE;
      };
      end(action, { who: 'operator', connections: of(member), run, member });
    },

    /** Ends nothing, but gives the gate another provider. */
    rotate(action: Action): void {
      const run: Ending['run'] = async ({ server }) => {
        await server.controls.keys.rotate(true, DECISION);
        return DONE;
      };
      end(action, { who: 'operator', connections: () => [], run });
    },
  };
}
