import { randomBytes } from 'node:crypto';
import { loadConfig } from '../../config/load.ts';
import { installedPath, RUNS_SOURCES } from '../../installation.ts';
import { createLog } from '../../operations/log.ts';
import { startGateway } from '../../process/gateway.ts';
import type { Clock } from '../../storage/store.ts';
import { startClient } from './client.ts';
import { startSchool } from './school.ts';

const CONFIG_FILE = installedPath('config/coursegate.yaml');

/** The secret of the console, for this run only. */
const ADMIN_SECRET = 'DEMO_ADMIN_SECRET';

type Environment = Readonly<Record<string, string | undefined>>;

export type Demo = Awaited<ReturnType<typeof startDemo>>;

/**
 * Starts the demo: the real gate with the real store, in front of a small legacy school, together with a third-party
 * app. Reads PORT, ADMIN_PORT, SCHOOL_PORT, CLIENT_PORT and COURSEGATE_* from the environment. If a part cannot start,
 * the others are closed and its error is thrown.
 */
export async function startDemo({ environment, clock }: { readonly environment: Environment; readonly clock: Clock }) {
  await using started = new AsyncDisposableStack();
  let origin: string | undefined;
  const schoolPort = portOf(environment.SCHOOL_PORT, 4000);
  const beside = (offset: number) => (schoolPort === 0 ? 0 : schoolPort + offset);
  const { urls, close } = await startSchool({
    ports: { school: schoolPort, progress: beside(1), events: beside(2) },
    gate: () => (origin === undefined ? undefined : { issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock,
  });
  started.defer(close);

  const upstreams = { school: { url: urls.school }, progress: { url: urls.progress }, events: { url: urls.events } };
  // The configuration keeps the store in the installation, where only a clone has a place for it.
  const store = RUNS_SOURCES || environment.COURSEGATE_DATA !== undefined ? undefined : { kind: 'memory' };
  const adminSecret = randomBytes(24).toString('base64url');
  const loaded = await loadConfig({
    file: CONFIG_FILE,
    environment: { ...environment, [ADMIN_SECRET]: adminSecret },
    overrides: { upstreams, store, admin: { hmac: { secret: { env: ADMIN_SECRET } } } },
  });
  origin = loaded.config.origin;
  const log = createLog(loaded.config.log.level, 2);
  const gateway = await startGateway({ loaded, log, clock, accessDescriptor: 1 });
  started.defer(() => gateway.close(5));

  // In a container, only what listens beyond loopback can be reached: the app then listens where the gate does.
  const { host } = loaded.config.listen;
  const client = await startClient({
    port: portOf(environment.CLIENT_PORT, 8081),
    ...(host === '127.0.0.1' ? {} : { host }),
    gate: origin,
    clock,
  });
  started.defer(() => client.close());
  const running = started.move();
  return {
    origin,
    profile: loaded.profile,
    urls: { school: urls.school, client: client.url, console: `http://localhost:${gateway.adminPort}/console` },
    adminSecret,
    close: () => running.disposeAsync(),
  };
}

function portOf(text: string | undefined, fallback: number): number {
  const port = text === undefined || text === '' ? fallback : Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_533) return port;
  throw new RangeError(`"${text}" is not a port number`);
}
