import { APP, REDIRECT, VERIFIER } from './approvals.ts';
import { type ClientParts, type Holder, TOKEN } from './client-parts.ts';
import { type Answer, ORIGIN } from './gate.ts';
import type { Token, TokenRequest } from './known.ts';
import type { Action } from './plan.ts';

/** Told the answer, or undefined, and the tokens in it: the refresh token first. */
type Done = (answer: Answer | undefined, given: readonly Token[]) => void;

type Sent = Omit<TokenRequest, 'start' | 'life'>;

const MOST_TRIES = 5;

/** Apps and thieves, who present codes and refresh tokens. */
export function createTokenClients({ plan, world, promises, tokens, situations, proofs }: ClientParts) {
  const { choices, scheduler, now, say } = world;

  /** The proof of a request, if tokens are bound to keys. A thief has a key of its own, or none. */
  const proofFor = (who: 'app' | 'thief', name: string): string | undefined =>
    !plan.bound || (who === 'thief' && choices.chance(`${name} has no key`, 0.3))
      ? undefined
      : proofs(who, ORIGIN + TOKEN, 'POST');

  const present = (who: 'app' | 'thief', shown: Token, gate: number, name: string, done: Done): void => {
    const proof = proofFor(who, name);
    send({ who, name, shown, proof, lacksKey: plan.bound && who === 'thief' }, gate, done);
    // Someone may have read the whole request, and sends it, too.
    if (!plan.bound || who === 'thief' || !choices.chance(`${name} copied`, 0.25)) return;
    const copy = { who: 'thief', name: `${name} copy`, shown, proof, lacksKey: false } as const;
    send(copy, choices.below(`${name} copy gate`, plan.gates), () => {});
  };

  const send = (sent: Sent, gate: number, done: Done): void => {
    const { who, name, shown, proof } = sent;
    const form =
      shown.kind === 'code'
        ? { grant_type: 'authorization_code', code: shown.value, redirect_uri: REDIRECT, code_verifier: VERIFIER }
        : { grant_type: 'refresh_token', refresh_token: shown.value };
    const use = shown.kind === 'code' ? 'exchange' : 'refresh';
    const what = shown.kind === 'code' ? `exchanges ${shown.name}` : `refreshes with ${shown.name}`;
    let request: TokenRequest = { ...sent, start: now(), life: undefined };
    const unanswered = (why: string) => {
      promises.unanswered(request);
      say(name, what, why);
      done(undefined, []);
    };
    const receive = ({ status, body }: Answer): void => {
      if (world.losesAnswer(name)) {
        situations.add('an answer is lost on its way');
        unanswered(`the answer ${status} is lost`);
        return;
      }
      const { access_token: access, refresh_token: refresh, error, error_description: why } = body ?? {};
      const given = status === 200 ? [tokens.of(refresh, 'refresh', shown), tokens.of(access, 'access', shown)] : [];
      say(name, what, `${status} ${given.length > 0 ? given.map((one) => one.name).join(', ') : `${error}: ${why}`}`);
      promises.answered(request, status, body, given);
      done({ status, body }, given);
    };
    world.ask<Answer>(
      gate,
      { name, role: `${who} ${use}`, about: shown.connection.name },
      (at) => at.post(TOKEN, { ...form, client_id: APP }, proof),
      {
        begun(life) {
          request = { ...request, start: now(), life: life?.name };
          tokens.shows(name, shown);
          say(name, what, life === undefined ? 'no gate is there' : `at ${life.name}`);
          if (life !== undefined) promises.begins(request);
        },
        done(answer) {
          if (answer === undefined) unanswered('has no answer');
          else scheduler.after(choices.delay(`${name} received`), () => receive(answer));
        },
      },
    );
  };

  const take = (holder: Holder, shown: Token, [refresh, access]: readonly Token[]): void => {
    if (refresh === undefined || access === undefined) return;
    if (holder.refresh !== undefined && holder.refresh.generation > refresh.generation) return;
    holder.replaced = shown.kind === 'refresh' ? shown : undefined;
    holder.refresh = refresh;
    if (!holder.access.includes(access)) holder.access.push(access);
  };

  /** The app presents a token until it has an answer, `copies` times at first. */
  const persist = (holder: Holder, shown: Token, action: Action, copies: number, tries = 1): void => {
    holder.busy = true;
    let open = copies;
    let isAnswered = false;
    const base = `${shown.kind === 'code' ? 'exchange' : 'refresh'} ${action.id}`;
    for (let copy = 1; copy <= copies; copy += 1) {
      const name = `${base}${copies > 1 ? '+'.repeat(copy) : ''}${tries > 1 ? ` try ${tries}` : ''}`;
      const gate = tries === 1 && copy === 1 ? action.gate : choices.below(`${name} gate`, plan.gates);
      present('app', shown, gate, name, (answer, given) => {
        open -= 1;
        if (answer !== undefined && answer.status < 500 && answer.body?.error !== 'invalid_dpop_proof') {
          isAnswered = true;
          if (given.length > 0) take(holder, shown, given);
          else if (holder.refresh === shown) holder.refresh = undefined;
        }
        if (open > 0) return;
        holder.busy = false;
        if (isAnswered || tries === MOST_TRIES) return;
        holder.busy = true;
        const isPatient = choices.chance(`${name} waits long`, 0.1);
        const pause = isPatient ? 11_500 : 40 + 900 * choices.unit(`${name} waits`);
        scheduler.after(pause, () => persist(holder, shown, action, 1, tries + 1));
      });
    }
  };

  return {
    /** Once, whatever comes of it. */
    present,
    persist,
    refresh(holder: Holder, action: Action, copies = 1): void {
      if (!holder.busy && holder.refresh !== undefined) persist(holder, holder.refresh, action, copies);
    },
    /** A thief goes on with what it has copied, or was given for it. */
    thief(holder: Holder, action: Action): void {
      if (holder.stolen === undefined) return;
      present('thief', holder.stolen, action.gate, `thief ${action.id}`, (_answer, [next]) => {
        if (next !== undefined) holder.stolen = next;
      });
    },
  };
}
