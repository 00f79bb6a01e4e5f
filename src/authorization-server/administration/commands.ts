import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, asGatewayError, GatewayError, renderFailure } from '../../errors.ts';
import { json, writeAnswer } from '../../http/answer.ts';
import { readBody } from '../../http/body.ts';
import type { AccountControl, Decision } from './account-control.ts';
import type { IdentifyCaller } from './caller.ts';
import type { KeyControl } from './key-control.ts';
import { type Query, readQuery } from './query.ts';
import type { StoreControl } from './store-control.ts';

/** The commands of the admin listener: what the school decides about members and apps. */
export interface Commands {
  /** Whether a request target is one of a command's, or may be mistaken for one. */
  takes(target: string): boolean;
  /** Answers such a request, with JSON or problem JSON (RFC 9457). Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface CommandsOptions {
  readonly controls: Controls;
  readonly identify: IdentifyCaller;
  /** Told what a caller is not. */
  readonly onError: (error: unknown) => void;
}

const BODY_LIMIT = 4096;
const LONGEST_ID = 2048;
const LONGEST_REASON = 200;

/** How long a list an answer may be asked for, and is when nothing is asked. */
const LONGEST_PAGE = 200;
const PAGE = 50;

/** What a command acts on. */
export interface Controls {
  readonly account: AccountControl;
  readonly keys: KeyControl;
  readonly store: StoreControl;
  readonly events: EventControl;
}

interface EventControl {
  /** Sends what waits now. Throws GatewayError `not_found` where the backend is told of nothing. */
  retry(): Promise<{ readonly pending: number }>;
}

interface Told {
  /** What is named in the path; '' in a command on all. */
  readonly id: string;
  readonly query: Query;
  /** What the body holds besides who decided, and why. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly decision: Decision;
}

interface Command {
  readonly method: 'GET' | 'POST';
  /** `:id` stands for what is named. */
  readonly path: string;
  /** The parameters that its query may have. */
  readonly query?: readonly string[];
  /** The members that its body may have. */
  readonly body?: readonly string[];
  readonly run: (controls: Controls, told: Told) => Promise<object>;
}

const PAGED = ['cursor', 'limit'];

/** Every command there is. What comes first is taken: `/keys/rotate` is no key. */
const COMMANDS: readonly Command[] = [
  {
    method: 'GET',
    path: '/members',
    query: ['q', ...PAGED],
    run: ({ account }, { query }) => account.listMembers(query.text('q'), query.page()),
  },
  { method: 'GET', path: '/members/:id', run: ({ account }, { id }) => account.describeMember(id) },
  {
    method: 'POST',
    path: '/members/:id/revoke',
    run: ({ account }, { id, decision }) => account.revokeMember(id, decision),
  },
  {
    method: 'POST',
    path: '/members/:id/suspend',
    run: ({ account }, { id, decision }) => account.suspendMember(id, decision),
  },
  {
    method: 'POST',
    path: '/members/:id/resume',
    run: ({ account }, { id, decision }) => account.resumeMember(id, decision),
  },
  {
    method: 'GET',
    path: '/clients',
    query: ['name', 'host', 'kind', ...PAGED],
    run: ({ account }, { query }) =>
      account.listClients(
        { name: query.text('name'), host: query.text('host'), kind: query.oneOf('kind', ['registered', 'document']) },
        query.page(),
      ),
  },
  { method: 'GET', path: '/clients/:id', run: ({ account }, { id }) => account.describeClient(id) },
  {
    method: 'POST',
    path: '/clients/:id/revoke',
    run: ({ account }, { id, decision }) => account.revokeClient(id, decision),
  },
  {
    method: 'POST',
    path: '/clients/:id/disable',
    run: ({ account }, { id, decision }) => account.disableClient(id, decision),
  },
  {
    method: 'POST',
    path: '/clients/:id/enable',
    run: ({ account }, { id, decision }) => account.enableClient(id, decision),
  },
  {
    method: 'POST',
    path: '/clients/:id/delete',
    run: ({ account }, { id, decision }) => account.deleteClient(id, decision),
  },
  {
    method: 'GET',
    path: '/grants',
    query: ['member', 'client'],
    run: ({ account }, { query }) => account.listGrants(query.owner()),
  },
  {
    method: 'POST',
    path: '/grants/:id/revoke',
    run: ({ account }, { id, decision }) => account.revokeGrant(id, decision),
  },
  { method: 'GET', path: '/keys', run: ({ keys }) => keys.list() },
  {
    method: 'POST',
    path: '/keys/rotate',
    body: ['now'],
    run: ({ keys }, { body, decision }) => keys.rotate(body.now === true, decision),
  },
  {
    method: 'POST',
    path: '/keys/import',
    body: ['key'],
    run: ({ keys }, { body, decision }) => keys.import(body.key, decision),
  },
  {
    method: 'POST',
    path: '/keys/:id/remove',
    run: ({ keys }, { id, decision }) => keys.remove(id, decision),
  },
  {
    method: 'POST',
    path: '/store/reseal',
    body: ['from'],
    run: ({ store }, { body, decision }) => store.reseal(body.from, decision),
  },
  { method: 'POST', path: '/events/retry', run: ({ events }) => events.retry() },
];

/** What a path may begin with that is a command's, or would be. */
const BELONGS = /^\/(?:(?:members|clients|grants|keys|store)(?:\/|$)|events\/)/;

export function createCommands({ controls, identify, onError }: CommandsOptions): Commands {
  const answer = async (request: IncomingMessage, requestId: string): Promise<Answer> => {
    const [path = '', search = ''] = (request.url ?? '').split('?', 2);
    const there = COMMANDS.flatMap((command) => {
      const id = idIn(path, command.path);
      return id === undefined ? [] : [{ command, id }];
    });
    const found = there.find(({ command }) => command.method === request.method);
    if (found === undefined) throw notThere(there.map(({ command }) => command.method));
    const { command, id } = found;
    const body = await readBody(request, BODY_LIMIT);
    const caller = await identify(request, body);
    const { by, reason, rest } = parseDecision(body, command.body ?? []);
    const decision = { by, reason, ...caller, address: request.socket.remoteAddress, requestId };
    const query = readQuery(search, command.query ?? [], { longest: LONGEST_PAGE, usual: PAGE });
    const done = await command.run(controls, { id: parseId(id), query, body: rest, decision });
    return json(200, done, { 'cache-control': 'no-store' });
  };

  return {
    takes: (url) => BELONGS.test(url.split('?', 1)[0] ?? ''),
    async handle(request, response) {
      const requestId = randomUUID();
      response.setHeader('x-request-id', requestId);
      try {
        writeAnswer(response, await answer(request, requestId));
      } catch (thrown) {
        const failure = asGatewayError(thrown);
        if (failure.status >= 500) onError(thrown);
        writeAnswer(response, renderFailure(failure, 'problem', requestId));
      }
    },
  };
}

/** Out: what stands for `:id`, as it came; '' where nothing does; undefined when the path is another. */
function idIn(path: string, pattern: string): string | undefined {
  const [parts, wanted] = [path.split('/'), pattern.split('/')];
  if (parts.length !== wanted.length) return undefined;
  const fits = wanted.every((part, at) => (part === ':id' ? parts[at] !== '' : part === parts[at]));
  return fits ? (parts[wanted.indexOf(':id')] ?? '') : undefined;
}

function notThere(methods: readonly string[]): GatewayError {
  const allow = [...new Set(methods)].join(', ');
  return allow === '' ? new GatewayError('not_found') : new GatewayError('method_not_allowed', { headers: { allow } });
}

/** Ids are opaque: percent-decoded once, then compared byte for byte. Throws `invalid_request`. */
function parseId(encoded: string): string {
  let id: string;
  try {
    id = decodeURIComponent(encoded);
  } catch {
    throw new GatewayError('invalid_request', { message: 'The id in the path is not percent-encoded UTF-8.' });
  }
  if (id.length > LONGEST_ID || /\p{Cc}/u.test(id))
    throw new GatewayError('invalid_request', { message: 'No id looks like the one in the path.' });
  return id;
}

/** In: the body, which may be left out: `{"by":"operator","reason":"refund"}`, and what else it may have. Throws `invalid_request`. */
function parseDecision(
  body: Buffer,
  more: readonly string[],
): Pick<Decision, 'by' | 'reason'> & { readonly rest: Readonly<Record<string, unknown>> } {
  if (body.length === 0) return { by: 'backend', reason: undefined, rest: {} };
  const besides = more.length === 0 ? '' : `, and ${more.map((name) => `"${name}"`).join(', ')}`;
  const wrong = new GatewayError('invalid_request', {
    message: `The body must be left out, or a JSON object with "by" ("backend" or "operator") and "reason" (a text of at most ${LONGEST_REASON} characters), neither of them needed${besides}.`,
  });
  let given: unknown;
  try {
    given = JSON.parse(body.toString('utf8'));
  } catch {
    throw wrong;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong;
  const { by = 'backend', reason, ...rest } = given as Record<string, unknown>;
  if (by !== 'backend' && by !== 'operator') throw wrong;
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > LONGEST_REASON)) throw wrong;
  if (Object.keys(rest).some((name) => !more.includes(name))) throw wrong;
  return { by, reason, rest };
}
