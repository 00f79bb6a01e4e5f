import type { IncomingMessage, RequestListener } from 'node:http';
import { hostname } from 'node:os';
import type { LoadedConfig } from '../../config/load.ts';
import type { Ground } from '../../foundation/ground.ts';
import { counted } from '../../http/amounts.ts';
import { once } from '../../http/once.ts';
import { requestOf } from '../../http/requests-in-flight.ts';
import { hostCheck } from '../../operations/admin-callers.ts';
import { createHealth } from '../../operations/health.ts';
import type { Log } from '../../operations/log.ts';
import type { Metrics } from '../../operations/metrics.ts';
import type { Clock } from '../../storage/store.ts';
import { joinedExposition } from './exposition.ts';
import type { HostMap } from './hosts.ts';
import type { HostedSchool } from './school.ts';

interface SchoolsAdminParts {
  readonly schools: ReadonlyMap<string, HostedSchool>;
  readonly hosts: HostMap<HostedSchool>;
  readonly ground: Pick<Ground, 'probe'>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly draining: () => boolean;
  readonly main: () => LoadedConfig;
}

/** `/schools/NAME/…` is what the admin listener of a process with this one school has at `/…`. */
const OF_SCHOOL = /^\/schools\/([a-z0-9-]{1,63})(\/.*|$)/;

/** As a proxy asks before it obtains a certificate. A domain name has at most 253 characters (RFC 1035 section 2.3.4). */
const TLS_FOR = /^\/tls\?domain=([a-z0-9.-]{1,253})$/;

/** The admin listener: probes and metrics of the process, and everything of each school below its name. */
export function schoolsAdmin(parts: SchoolsAdminParts): RequestListener {
  const { schools, hosts, ground, metrics, log, clock, draining, main } = parts;
  const health = (): ReturnType<typeof createHealth> => {
    const mistaken = [...schools.values()].filter(({ mistake }) => mistake !== undefined).length;
    const mentioned = [counted(schools.size, 'school'), ...(mistaken > 0 ? [`${mistaken} with mistakes`] : [])];
    // Each school has keys of its own, which are made when they are first needed.
    const keyring = { signing: () => ({ kid: 'each school' }) };
    return createHealth({ ...ground, keyring, log, clock }, main(), { draining, mentioned });
  };
  const create = async () => {
    const { adminApp } = await import('../../operations/admin.ts');
    const { listen } = main().config;
    return adminApp({
      health: { live: () => health().live(), ready: () => health().ready() },
      isOurs: hostCheck([listen.admin.host, listen.probes?.host ?? [], hostname()].flat()),
      metrics: () => joinedExposition(metrics, schools.values()),
      answers: {
        '/schools': () => ({ json: { schools: [...schools.values()].map(described) } }),
        '/tls': ({ url }) => {
          const isServed = hosts.certifies(TLS_FOR.exec(url)?.[1] ?? '');
          return isServed ? { text: 'ok' } : { status: 404, text: 'not found' };
        },
      },
      commands: (_request, _response, next) => next(),
      console: (_request, _response, next) => next(),
    });
  };
  const app = once(create, { forgetFailure: true });

  return async (request: IncomingMessage & { originalUrl?: string; baseUrl?: string }, response) => {
    const [, name = '', path = ''] = OF_SCHOOL.exec(request.url ?? '') ?? [];
    const school = schools.get(name);
    const origin = school?.hosts[0]?.origin;
    try {
      if (school === undefined || origin === undefined) return (await app())(request, response);
      const gate = school.openedAt(origin) ?? (await school.openAt(origin));
      gate.usedAt = performance.now();
      requestOf(response).gate = gate.mark;
      // What was signed is the whole of it: a command for one school is none for another.
      request.originalUrl = request.url ?? '';
      request.baseUrl = `/schools/${name}`;
      request.url = path === '' ? '/' : path;
      gate.generations.current().admin(request, response);
    } catch (err) {
      log.error({ err }, 'a request to the admin listener failed');
      response.writeHead(503, { 'content-type': 'text/plain', connection: 'close' }).end('unavailable\n');
    }
  };
}

function described({ name, hosts, gates, mistake }: HostedSchool) {
  const state = mistake !== undefined ? 'refused' : [...gates].length > 0 ? 'open' : 'idle';
  return { name, origin: hosts[0]?.origin, state };
}
