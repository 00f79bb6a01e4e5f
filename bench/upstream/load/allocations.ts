import { collectGarbage } from '../../support/inspector.ts';
import type { Running } from '../peers/peer.ts';
import { saturate } from './saturate.ts';

/** What one function allocated. */
interface Site {
  /** Name and place of the function; '' outside of all functions, such as for what the parser of requests makes. */
  readonly name: string;
  readonly bytes: number;
}

/** What a Node process allocates on V8's heap for each request. It does not depend on what else runs on the machine. */
interface Allocations {
  /** Bytes per request. */
  readonly bytes: number;
  /** The functions that allocate them, the largest first. */
  readonly sites: readonly Site[];
}

/** Mean distance of two samples, in bytes. */
const INTERVAL = 2048;

interface Node {
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly selfSize: number;
  readonly children: readonly Node[];
}

/**
 * Samples V8's heap while requests are sent, what is collected meanwhile included. The inspector must be closed before: it
 * is opened with SIGUSR1.
 */
export async function allocations(
  running: Omit<Running, 'stop'>,
  path: string,
  seconds: number,
  folder: string,
): Promise<Allocations> {
  const { inspector = 0, roots } = running;
  // Code that is compiled meanwhile is allocated, too.
  await saturate(running, path, seconds, folder, true);
  await collectGarbage(roots[0] ?? 0, inspector);
  const session = await openSession(inspector);
  await session.send('HeapProfiler.startSampling', {
    samplingInterval: INTERVAL,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  const { operations } = await saturate(running, path, seconds, folder, true);
  const { profile } = (await session.send('HeapProfiler.stopSampling')) as { profile: { head: Node } };
  session.close();
  const bySite = new Map<string, number>();
  addSites(profile.head, bySite);
  const sites = [...bySite].map(([name, bytes]) => ({ name, bytes: bytes / operations }));
  return {
    bytes: sites.reduce((sum, { bytes }) => sum + bytes, 0),
    sites: sites.toSorted((a, b) => b.bytes - a.bytes),
  };
}

function addSites({ callFrame, selfSize, children }: Node, sum: Map<string, number>, caller = ''): void {
  const { functionName, url, lineNumber } = callFrame;
  const file = url.startsWith('node:') ? url : url.split('/').slice(-2).join('/');
  // What the engine's own functions allocate belongs to their caller.
  const name = url === '' ? caller : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
  sum.set(name, (sum.get(name) ?? 0) + selfSize);
  for (const child of children) addSites(child, sum, name);
}

/** A session of the DevTools protocol. */
async function openSession(port: number) {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  const waiting = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the inspector is unavailable'));
  });
  let sent = 0;
  return {
    send: (method: string, params = {}) =>
      new Promise<unknown>((resolve) => {
        sent += 1;
        waiting.set(sent, resolve);
        socket.send(JSON.stringify({ id: sent, method, params }));
      }),
    close: () => socket.close(),
  };
}
