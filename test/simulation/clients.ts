import { type ClientParts, type Holder, inRequest } from './client-parts.ts';
import { createEndings } from './endings.ts';
import { TTL } from './gate.ts';
import type { Connection } from './known.ts';
import { showAccessToken } from './looks.ts';
import type { Action } from './plan.ts';
import type { Work } from './simulated-time.ts';
import { createTokenClients } from './token-clients.ts';

/** The apps, the thief, the members and the operator of one schedule. */
export function createClients(parts: ClientParts) {
  const { plan, world, promises, ground, tokens } = parts;
  const { choices, scheduler, say } = world;
  const holders: Holder[] = plan.members.map(() => ({
    connection: undefined,
    code: undefined,
    refresh: undefined,
    replaced: undefined,
    access: [],
    busy: false,
    stolen: undefined,
  }));
  const clients = createTokenClients(parts);
  const endings = createEndings(parts, holders);

  /** The member approves the app, which redeems its code. */
  const connect = (holder: Holder, action: Action): void => {
    const number = action.connection + 1;
    const member = plan.members[action.connection] as string;
    const name = `approval ${number}`;
    world.ask(
      action.gate,
      { name, role: 'approval', about: `C${number}` },
      () => inRequest(() => ground.approvals.approve(member)).catch(() => undefined),
      {
        begun: () => {},
        done(approved) {
          say(member, 'approves the app', approved === undefined ? 'refused' : `C${number}`);
          if (approved === undefined) return;
          const { grantId } = approved;
          const connection: Connection = {
            name: `C${number}`,
            number,
            member,
            grantId,
            doubt: undefined,
            causes: new Set(),
            ends: [],
          };
          const why = endings.begunFor(member);
          if (why !== undefined) promises.ending([connection], why);
          const code = tokens.code(connection, approved.code, name);
          Object.assign(holder, { connection, code });
          clients.persist(holder, code, action, choices.chance(`${name} twice`, 0.15) ? 2 : 1);
        },
      },
    );
  };

  const act = (action: Action): void => {
    const { kind, id, gate } = action;
    const holder = holders[action.connection] as Holder;
    const { connection, code, replaced } = holder;
    if (kind === 'reload') world.reload(gate, id);
    if (kind === 'exchange') connect(holder, action);
    if (connection === undefined) return;
    switch (kind) {
      case 'exchange again':
        if (code !== undefined && !holder.busy) clients.present('app', code, gate, `exchange ${id} again`, () => {});
        break;
      case 'refresh':
        clients.refresh(holder, action);
        break;
      case 'refresh twice':
        clients.refresh(holder, action, 2);
        break;
      case 'refresh replaced':
        if (replaced !== undefined) clients.present('app', replaced, gate, `refresh ${id} again`, () => {});
        break;
      case 'use': {
        const token = choices.chance(`use ${id} older`, 0.25) ? holder.access[0] : holder.access.at(-1);
        for (let at = 0; token !== undefined && at < plan.gates; at += 1)
          showAccessToken(parts, token, at, `use ${id} at ${at + 1}`);
        break;
      }
      case 'steal':
        holder.stolen = holder.refresh ?? holder.stolen;
        break;
      case 'thief':
        clients.thief(holder, action);
        break;
      case 'member cuts off':
        endings.cutOff(action, connection);
        break;
      case 'app revokes':
        endings.revoke(action, holder);
        break;
      case 'operator ends':
        endings.endGrant(action, connection);
        break;
      case 'operator suspends':
        endings.suspend(action);
        break;
      case 'operator resumes':
        endings.resume(action);
        break;
      case 'keys rotate':
        endings.rotate(action);
        break;
    }
  };

  /** Actions of the plan that happen within other work, by its name. */
  const within = Map.groupBy(plan.actions, ({ during }) => during);

  /** Some show a code or a token that was used long ago. Returns whether one did. */
  const showOld = async (wait: (milliseconds: number) => Promise<void>): Promise<boolean> => {
    const [old] = holders.flatMap(
      ({ code, replaced }) => choices.pick('old', [code, replaced, undefined, undefined]) ?? [],
    );
    if (old === undefined) return false;
    await wait(choices.chance('very old', 0.5) ? 2500 * TTL.code : 2500 * TTL.replayWindow);
    clients.present('app', old, choices.below('old gate', plan.gates), 'last with what is old', () => {});
    await wait(3000);
    return true;
  };

  return {
    act,
    connections: (): readonly Connection[] => holders.flatMap(({ connection }) => connection ?? []),
    /** Shows an access token at a gate that is at a step of this work, and again when that may have ended. */
    actWithin({ name, life }: Work, step: number): void {
      for (const { id, connection } of within.get(name) ?? []) {
        const token = (holders[connection] as Holder).access.at(-1);
        if (token === undefined) continue;
        showAccessToken(parts, token, life.place, `use ${id} step ${step}`, false);
        const later = 60 + 2500 * choices.unit(`use ${id} again`);
        if (step === 0) scheduler.after(later, () => showAccessToken(parts, token, life.place, `use ${id} again`));
      }
    },
    /** Every gate is asked about every token, and apps and thieves go on. */
    async lookAtTheEnd(): Promise<void> {
      const wait = (milliseconds: number) => scheduler.run(scheduler.now() + milliseconds);
      const lookAll = (when: string) => {
        for (const token of holders.flatMap(({ access }) => access.slice(-1)))
          for (let gate = 0; gate < plan.gates; gate += 1)
            showAccessToken(parts, token, gate, `${when} look at ${token.name} by ${gate + 1}`);
      };
      await wait(15_500);
      lookAll('last');
      await wait(1000);
      for (const [connection, holder] of holders.entries()) {
        const action: Action = {
          kind: 'refresh',
          at: 0,
          id: 1000 + connection,
          connection,
          gate: connection % plan.gates,
        };
        clients.refresh(holder, action);
        await wait(3000);
        clients.thief(holder, action);
        await wait(3000);
        if (holder.stolen !== undefined) clients.refresh(holder, { ...action, id: 2000 + connection });
        await wait(3000);
      }
      lookAll('very last');
      await wait(1000);
      if (await showOld(wait)) lookAll('after that a');
      await wait(1000);
    },
  };
}
