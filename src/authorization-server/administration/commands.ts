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

/**
 * This folder holds the commands of the admin listener, by which the backend and the operator manage members, apps,
 * grants, signing keys and the store.
 */
export interface Commands {
  /** Whether a request target is a command's, or under a prefix reserved for commands. */
  takes(target: string): boolean;
  /** Answers such a request with JSON or problem JSON (RFC 9457). Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface CommandsOptions {
  readonly controls: Controls;
  readonly identify: IdentifyCaller;
  /** Receives internal errors, which callers do not see. */
  readonly onError: (error: unknown) => void;
}

const BODY_LIMIT = 4096;
const LONGEST_ID = 2048;
const LONGEST_REASON = 200;

/** The longest page that can be requested, and the default. */
const LONGEST_PAGE = 200;
const PAGE = 50;

/** The modules that commands act on. */
export interface Controls {
  readonly account: AccountControl;
  readonly keys: KeyControl;
  readonly store: StoreControl;
  readonly events: EventControl;
}

interface EventControl {
  /** Sends pending events now. Throws GatewayError `not_found` when no events are configured. */
  retry(): Promise<{ readonly pending: number }>;
}

interface Told {
  /** The id in the path; '' for a command without one. */
  readonly id: string;
  readonly query: Query;
  /** The members of the body other than `by` and `reason`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly decision: Decision;
}

interface Command {
  readonly method: 'GET' | 'POST';
  /** May contain the placeholder `:id`. */
  readonly path: string;
  /** The allowed query parameters. */
  readonly query?: readonly string[];
  /** The allowed members of the body. */
  readonly body?: readonly string[];
  readonly run: (controls: Controls, told: Told) => Promise<object>;
}

const PAGED = ['cursor', 'limit'];

/** Every command. The first match wins, so that `/keys/rotate` is not taken for a key id. */
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

/** The path prefixes of commands. */
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

/** The encoded value of `:id`, or '' for a pattern without it; undefined when the path does not match. */
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

/** Ids are opaque: percent-decoded once, then compared exactly. Throws `invalid_request`. */
function parseId(encoded: string): string {
  let id: string;
  try {
    id = decodeURIComponent(encoded);
  } catch {
    throw new GatewayError('invalid_request', { message: 'The id in the path is not percent-encoded UTF-8.' });
  }
  if (id.length > LONGEST_ID || /\p{Cc}/u.test(id))
    throw new GatewayError('invalid_request', {
      message: 'The id in the path is too long or contains control characters.',
    });
  return id;
}

/** Parses the optional body, such as `{"by":"operator","reason":"refund"}`. Throws `invalid_request`. */
function parseDecision(
  body: Buffer,
  more: readonly string[],
): Pick<Decision, 'by' | 'reason'> & { readonly rest: Readonly<Record<string, unknown>> } {
  if (body.length === 0) return { by: 'backend', reason: undefined, rest: {} };
  const besides = more.length === 0 ? '' : `, and ${more.map((name) => `"${name}"`).join(', ')}`;
  const wrong = new GatewayError('invalid_request', {
    message: `The body must be empty or a JSON object with the optional members "by" ("backend" or "operator") and "reason" (text of at most ${LONGEST_REASON} characters)${besides}.`,
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
