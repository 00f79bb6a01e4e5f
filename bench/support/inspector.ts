/**
 * Makes a Node process collect garbage, so that memory in use can be measured. Takes its process ID and the port given with
 * --inspect-port. SIGUSR1 opens the inspector, as Node documents.
 */
export async function collectGarbage(pid: number, port: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await debuggerUrl(port));
  await new Promise<void>((resolve, reject) => {
    socket.onerror = () => reject(new Error('the inspector is unavailable'));
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
    socket.onmessage = () => resolve();
  });
  socket.close();
}

async function debuggerUrl(port: number): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/json`).catch(() => undefined);
    if (answer !== undefined) {
      const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[];
      if (target !== undefined) return target.webSocketDebuggerUrl;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no inspector on port ${port}`);
}
