import type { Server } from 'node:http';
import { WebSocketServer } from 'ws';
import { type School, type SchoolOptions, startSchool } from '../../src/operator/demo/school.ts';

const PATH = '/ws/echo';
const LARGEST_MESSAGE = 1024 * 1024;

/** The demo's school, with a WebSocket echo among its pages. */
export async function startSchoolWithEcho(options: SchoolOptions): Promise<School> {
  const school = await startSchool(options);
  const endEchoes = attachEcho(school.server);
  return {
    ...school,
    close() {
      // The server waits for upgraded connections.
      endEchoes();
      return school.close();
    },
  };
}

/**
 * Adds the echo to a server: text comes back as text, binary as binary. At other paths, WebSockets are refused. Returns a
 * function that closes the open connections.
 */
function attachEcho(server: Server): () => void {
  const sockets = new WebSocketServer({
    server,
    maxPayload: LARGEST_MESSAGE,
    verifyClient: ({ req }, done) => done(req.url?.split('?', 1)[0] === PATH, 404),
  });
  sockets.on('connection', (socket) => {
    // A protocol error of a client closes only its own connection.
    socket.on('error', () => socket.terminate());
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  return () => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  };
}
