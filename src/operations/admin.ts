// The admin listener and what operators watch: health, metrics, audit and access logs, observe mode, GraphiQL.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeAnswer } from '../http/answer.ts';
import { isFromPage } from './admin-callers.ts';
import { GRAPHIQL_PATHS, graphiqlFile } from './graphiql/graphiql.ts';
import type { GraphiqlOptions } from './graphiql/page.ts';
import { type Health, type HealthChecks, healthLines } from './health.ts';

export interface AdminOptions {
  readonly health: HealthChecks;
  /** Whether Host names this listener; see `hostCheck`. */
  readonly isOurs: (request: IncomingMessage) => boolean;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Undefined when routes are enforced and nothing is observed. */
  readonly observer: Proposal | undefined;
  /** Events waiting for delivery to the backend. `state()` is undefined when the backend receives no events. */
  readonly events: { state(): Promise<object | undefined> };
  /** Undefined when there is no Account API. */
  readonly graphiql: GraphiqlOptions | undefined;
  /** Commands of the backend and the operator. They authenticate their callers themselves. */
  readonly commands: {
    takes(path: string): boolean;
    handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  };
}

/** What observe mode proposes and has counted. */
export interface Proposal {
  yaml(): string;
  json(): object;
}

interface Said {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const YAML = 'application/yaml; charset=utf-8';
const JSON_TYPE = 'application/json';
const MISDIRECTED: Said = {
  status: 421,
  text: 'Not asked by a name of this listener. Use its address (127.0.0.1), localhost, a name without dots, or a name that listen.admin.host or listen.probes.host has.',
};
const NO_EVENTS: Said = { status: 404, text: 'no `events` in the configuration: the backend is told of nothing' };

interface Entry {
  readonly methods: readonly string[];
  readonly say: (request: IncomingMessage) => Promise<Said>;
}

/**
 * The admin listener:
 * - `/livez`: the process is running; `/readyz`: it can receive requests. With `?verbose`, both list their checks, as
 *   JSON if the client accepts it.
 * - `/metrics`: for Prometheus.
 * - `/observed`: the routes that observe mode proposes; `/observed.json`: everything it counted.
 * - `/events`: events waiting for the backend.
 * - `/graphiql`: a page for developers who write against the Account API.
 *
 * These do not authenticate the caller: the listener is on loopback, answers only to its own names, and refuses
 * requests sent by web pages. Commands do authenticate, by `admin.hmac` or `admin.mtls`, so they answer to any name.
 */
export function adminHandler(options: AdminOptions) {
  const table: Readonly<Record<string, Entry>> = {
    '/livez': { methods: ['GET', 'HEAD'], say: async (request) => told(request, options.health.live()) },
    '/readyz': { methods: ['GET', 'HEAD'], say: async (request) => told(request, await options.health.ready()) },
    '/metrics': {
      methods: ['GET', 'HEAD'],
      say: async () => ({ status: 200, ...(await options.metrics()) }),
    },
    '/observed': { methods: ['GET', 'HEAD'], say: async () => observed(YAML, (observer) => observer.yaml()) },
    '/observed.json': {
      methods: ['GET', 'HEAD'],
      say: async () => observed(JSON_TYPE, (observer) => JSON.stringify(observer.json(), undefined, 2)),
    },
    '/events': {
      methods: ['GET', 'HEAD'],
      async say() {
        const state = await options.events.state();
        if (state === undefined) return NO_EVENTS;
        return { status: 200, contentType: JSON_TYPE, text: JSON.stringify(state, undefined, 2) };
      },
    },
    ...Object.fromEntries(
      GRAPHIQL_PATHS.map((path) => [
        path,
        { methods: ['GET', 'HEAD'], say: () => graphiqlFile(path, options.graphiql) },
      ]),
    ),
  };

  function observed(contentType: string, text: (observer: Proposal) => string): Said {
    if (options.observer === undefined) return { status: 404, text: 'not in observe mode: nothing is watched' };
    return { status: 200, contentType, text: text(options.observer) };
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fromPage = isFromPage(request);
    if (options.commands.takes(request.url ?? '')) {
      if (fromPage) return send(response, { status: 403, text: 'not from a browser' });
      return options.commands.handle(request, response);
    }
    if (!options.isOurs(request)) return send(response, MISDIRECTED);
    const entry = Object.entries(table).find(([path]) => path === (request.url ?? '').split('?', 1)[0])?.[1];
    if (entry === undefined) return send(response, { status: 404, text: 'not found' });
    if (!entry.methods.includes(request.method ?? '')) {
      return send(response, { status: 405, text: 'method not allowed' }, { allow: entry.methods.join(', ') });
    }
    if (fromPage) return send(response, { status: 403, text: 'not from a browser' });
    send(response, await entry.say(request).catch(() => ({ status: 503, text: 'the store cannot be reached' })));
  };
}

/** The result of a health check, in full if the query has `verbose`. */
function told({ url = '', headers }: IncomingMessage, health: Health): Said {
  const [path = '', query = ''] = url.split('?', 2);
  const status = health.ok ? 200 : 503;
  if (!new URLSearchParams(query).has('verbose')) return { status, text: health.text };
  if (headers.accept?.includes(JSON_TYPE) === true) {
    const { ok, checks } = health;
    return { status, contentType: JSON_TYPE, text: JSON.stringify({ ok, checks }) };
  }
  return { status, text: healthLines(health, path.slice(1)) };
}

function send(response: ServerResponse, said: Said, more: Record<string, string> = {}): void {
  const { status, text, contentType = 'text/plain; charset=utf-8', headers } = said;
  writeAnswer(response, {
    status,
    headers: { 'content-type': contentType, 'cache-control': 'no-store', ...headers, ...more },
    body: text.endsWith('\n') ? text : `${text}\n`,
  });
}
