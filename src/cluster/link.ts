import { GatewayError } from '../errors.ts';

/** What one end may ask the other: by name, what goes in and what comes out. Everything is copied on its way. */
// biome-ignore lint/suspicious/noExplicitAny: the table of a protocol has what it has.
export type Protocol = Readonly<Record<string, (body: any) => unknown>>;

/** Either end of the channel between the primary and one worker. */
export interface Port {
  /** In: what to send, and what to call with the error when it cannot be. */
  send(message: object, failed: (error: Error | null) => void): void;
  /** Takes each message of the other end. */
  receive(take: (message: unknown) => void): void;
}

/** What answers a protocol, now or later. */
export type Answers<P extends Protocol> = {
  readonly [Name in keyof P]: (body: Parameters<P[Name]>[0]) => ReturnType<P[Name]> | Promise<ReturnType<P[Name]>>;
};

/** Asks the other end, and answers it. `Theirs` is what the other end answers. */
export interface Link<Theirs extends Protocol> {
  /**
   * Throws GatewayError `store_unavailable` when there is no answer in time (milliseconds), the other end is gone, or could
   * not do it. 0: however long it takes.
   */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    body: Parameters<Theirs[Name]>[0],
    within?: number,
  ): Promise<ReturnType<Theirs[Name]>>;
  /** Says it, and does not hear what came of it. */
  tell<Name extends keyof Theirs & string>(name: Name, body: Parameters<Theirs[Name]>[0]): void;
  /** The other end is gone: whoever waits for an answer is told. */
  close(): void;
}

interface Message {
  readonly coursegate: 'ask' | 'tell' | 'answer' | 'failed';
  readonly id: number;
  readonly name: string;
  readonly body: unknown;
}

interface Waiting {
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** With a request's other work around it, a caller learns within a second that the other end does not answer. */
const PATIENCE = 800;

/** In: the channel, what this end answers, and what to call with what went wrong in an answer that nobody waits for. */
export function openLink<Ours extends Protocol, Theirs extends Protocol>(
  port: Port,
  answers: Answers<Ours>,
  onError: (error: unknown) => void,
): Link<Theirs> {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let closed = false;

  const send = (message: Message, failed: (error: Error) => void = () => {}) =>
    port.send(message, (error) => {
      if (error !== null) failed(error);
    });

  const answer = async ({ coursegate, id, name, body }: Message): Promise<void> => {
    try {
      const given = answers[name];
      if (given === undefined) throw new Error(`nobody answers ${name}`);
      const outcome = await given(body as never);
      if (coursegate === 'ask') send({ coursegate: 'answer', id, name, body: outcome });
    } catch (thrown) {
      if (coursegate === 'tell') onError(thrown);
      else send({ coursegate: 'failed', id, name, body: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  };

  port.receive((received) => {
    const message = received as Message;
    switch (message?.coursegate) {
      case 'ask':
      case 'tell':
        void answer(message);
        return;
      case 'answer':
        waiting.get(message.id)?.resolve(message.body);
        return;
      case 'failed':
        waiting.get(message.id)?.reject(new Error(String(message.body)));
        return;
    }
  });

  return {
    ask(name, body, within = PATIENCE) {
      asked += 1;
      const id = asked;
      let timer: NodeJS.Timeout | undefined;
      return new Promise<never>((resolve, reject) => {
        const fail = (reason: Error) => reject(new GatewayError('store_unavailable', { cause: reason }));
        if (closed) return fail(new Error(`${name}: the other process is gone`));
        waiting.set(id, { resolve: resolve as (body: unknown) => void, reject: fail });
        if (within > 0) timer = setTimeout(fail, within, new Error(`${name}: the other process does not answer`));
        send({ coursegate: 'ask', id, name, body }, fail);
      }).finally(() => {
        clearTimeout(timer);
        waiting.delete(id);
      });
    },
    tell(name, body) {
      if (!closed) send({ coursegate: 'tell', id: 0, name, body });
    },
    close() {
      closed = true;
      for (const { reject } of waiting.values()) reject(new Error('the other process is gone'));
    },
  };
}
