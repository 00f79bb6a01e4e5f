/**
 * Has a Node process collect its garbage, so that what it holds is told from what it has not thrown away yet. In: its
 * process id, and the port it was given with --inspect-port; the inspector is opened by SIGUSR1, as Node documents.
 */
export async function collectGarbage(pid: number, port: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await debuggerUrl(port));
  await new Promise<void>((resolve, reject) => {
    socket.onerror = () => reject(new Error('the inspector cannot be reached'));
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
  throw new Error(`no inspector at port ${port}`);
}
