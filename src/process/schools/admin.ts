import type { IncomingMessage, RequestListener } from 'node:http';
import { hostname } from 'node:os';
import { dirname, isAbsolute, relative } from 'node:path';
import { callerCheck, callersOf } from '../../authorization-server/administration/caller.ts';
import { ConfigError, type LoadedConfig } from '../../config/load.ts';
import { formatProblem } from '../../config/problems.ts';
import type { Ground } from '../../foundation/ground.ts';
import { counted } from '../../http/amounts.ts';
import { once } from '../../http/once.ts';
import { requestOf } from '../../http/requests-in-flight.ts';
import { hostCheck } from '../../operations/admin-callers.ts';
import type { Audit } from '../../operations/audit.ts';
import { createHealth } from '../../operations/health.ts';
import type { Log } from '../../operations/log.ts';
import type { Metrics } from '../../operations/metrics.ts';
import { type SchoolRow, schoolsConsole } from '../../operator/console/schools/part.ts';
import type { Clock, Store } from '../../storage/store.ts';
import { schoolCommands } from './commands.ts';
import { joinedExposition } from './exposition.ts';
import type { HostMap } from './hosts.ts';
import type { SchoolMoves } from './moves.ts';
import type { HostedSchool } from './school.ts';

interface SchoolsAdminParts {
  readonly schools: ReadonlyMap<string, HostedSchool>;
  readonly hosts: HostMap<HostedSchool>;
  readonly ground: Pick<Ground, 'probe' | 'counters' | 'secret'>;
  readonly store: Store;
  readonly moves: SchoolMoves;
  readonly metrics: Metrics;
  readonly audit: Audit;
  readonly log: Log;
  readonly clock: Clock;
  readonly draining: () => boolean;
  readonly main: () => LoadedConfig;
}

/** `/schools/NAME/…` is what the admin listener of a process with this one school has at `/…`. */
const OF_SCHOOL = /^\/schools\/([a-z0-9-]{1,63})(\/.*|$)/;

/** As a proxy asks before it obtains a certificate. A domain name has at most 253 characters (RFC 1035 section 2.3.4). */
const TLS_FOR = /^\/tls\?domain=([a-z0-9.-]{1,253})$/;

/** The admin listener: probes, metrics and console of the process, and everything of each school below its name. */
export function schoolsAdmin(parts: SchoolsAdminParts): RequestListener {
  const { schools, hosts, ground, store, metrics, audit, moves, log, clock, draining, main } = parts;
  const health = (): ReturnType<typeof createHealth> => {
    const mistaken = [...schools.values()].filter(({ mistake }) => mistake !== undefined).length;
    const mentioned = [counted(schools.size, 'school'), ...(mistaken > 0 ? [`${mistaken} with mistakes`] : [])];
    // Each school has keys of its own, which are made when they are first needed.
    const keyring = { signing: () => ({ kid: 'each school' }) };
    return createHealth({ ...ground, keyring, log, clock }, main(), { draining, mentioned });
  };
  const rows = () => [...schools.values()].map((school) => rowOf(school, hosts, dirname(main().file)));
  const { counters, secret } = ground;
  const consoleFor = schoolsConsole({ store, counters, clock, audit, secret, health, schools: rows, log });
  const commandsFor = (loaded: LoadedConfig) =>
    schoolCommands(moves, callerCheck(callersOf(loaded, { counters, store, clock, audit })), log);
  const create = async (loaded: LoadedConfig) => {
    const { adminApp } = await import('../../operations/admin.ts');
    const { listen } = loaded.config;
    return adminApp({
      health: { live: () => health().live(), ready: () => health().ready() },
      isOurs: hostCheck([listen.admin.host, listen.probes?.host ?? [], hostname()].flat()),
      metrics: () => joinedExposition(metrics, schools.values()),
      answers: {
        '/schools': () => ({
          json: { schools: rows().map(({ id: name, origin, state }) => ({ name, origin, state })) },
        }),
        '/tls': ({ url }) => {
          const isServed = hosts.certifies(TLS_FOR.exec(url)?.[1] ?? '');
          return isServed ? { text: 'ok' } : { status: 404, text: 'not found' };
        },
      },
      commands: commandsFor(loaded),
      console: consoleFor(loaded),
    });
  };
  // Operators of the process may change with its configuration.
  let made: { readonly of: LoadedConfig; readonly app: () => ReturnType<typeof create> } | undefined;
  const app = () => {
    const of = main();
    if (made?.of !== of) made = { of, app: once(() => create(of), { forgetFailure: true }) };
    return made.app();
  };

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

/** A school as it is, without opening it. Files are named from the folder of the main file. */
function rowOf(school: HostedSchool, all: HostMap<HostedSchool>, folder: string): SchoolRow {
  const { name: id, hosts, gates, mistake, isRefused, isMoved } = school;
  const open = [...gates];
  const mistakes = mistake instanceof ConfigError ? mistake.problems : [];
  return {
    ...{ id, isServed: !isRefused && !isMoved, origin: hosts[0]?.origin },
    state: mistake !== undefined ? 'refused' : isMoved ? 'moved' : open.length > 0 ? 'open' : 'idle',
    problems: [
      ...mistakes.map((one) => {
        const file = isAbsolute(one.file) ? relative(folder, one.file) : one.file;
        return formatProblem({ ...one, file, frame: undefined });
      }),
      ...(mistake !== undefined && mistakes.length === 0 ? [mistake.message] : []),
      ...hosts.flatMap(({ host }) => {
        const of = all.at(host)?.school;
        return of === undefined || of === school ? [] : [`${host} is an address of the school "${of.name}" already`];
      }),
      ...open.flatMap(({ generations }) =>
        generations
          .upstreams()
          .flatMap(({ name, breaker }) => (breaker === 'closed' ? [] : [`upstream ${name} does not answer`])),
      ),
    ],
  };
}
