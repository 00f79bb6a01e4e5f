import { createServer, type Server } from 'node:http';
import { listen, shut } from '../../http/listen.ts';
import { application } from './school/api.ts';
import { buildSchoolData } from './school/data/school-data.ts';
import { eventsService } from './school/events-service.ts';
import type { GateKeys } from './school/gate-identity.ts';
import { progressService } from './school/progress-service.ts';
import { schoolService } from './school/school-service.ts';
import { openVisitors } from './school/visitors.ts';

/** The options of the demo's legacy school. */
export interface SchoolOptions {
  /** 0 for any free port. */
  readonly ports: { readonly school: number; readonly progress: number; readonly events: number };
  /** The gate whose identity assertions are trusted. A function, since the gate starts later. */
  readonly gate: () => GateKeys | undefined;
  /** For sessions and assertions, in milliseconds since the epoch. Default Date.now. */
  readonly clock?: () => number;
  /** The day from which the dates of the data are computed. Default the time of the start. */
  readonly today?: Date;
}

/** A running school with its three services. `server` has the pages and the REST API. */
export type School = Awaited<ReturnType<typeof startSchool>>;

/**
 * Starts the demo's legacy school: pages and REST, the progress service and the events service, each on its own port.
 * Rejects with Node's own error when a port is in use, after closing what was started.
 */
export async function startSchool(options: SchoolOptions) {
  const { ports, gate, clock = Date.now, today = new Date(clock()) } = options;
  const now = () => Math.floor(clock() / 1000);
  const parts = { data: buildSchoolData(Math.floor(today.getTime() / 1000)), gate, now };
  const visitors = openVisitors(parts.data.members, now);
  await using started = new AsyncDisposableStack();
  const open = async (server: Server, port: number): Promise<string> => {
    started.defer(() => shut(server));
    return `http://127.0.0.1:${await listen(server, { port, host: '127.0.0.1' })}`;
  };
  const school = createServer(application().use(schoolService(parts, visitors)));
  const urls = {
    school: await open(school, ports.school),
    progress: await open(createServer(application().use(progressService(parts))), ports.progress),
    events: await open(createServer(application().use(eventsService(parts))), ports.events),
  };
  const running = started.move();
  return { server: school, urls, close: () => running.disposeAsync() };
}
