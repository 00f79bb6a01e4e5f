import type { Server } from 'node:http';
import { WebSocketServer } from 'ws';

const PATH = '/ws/echo';
const LARGEST_MESSAGE = 1024 * 1024;

/**
 * Adds the WebSocket echo to a server: text comes back as text, binary as binary. Every other upgrade is refused.
 * Returns a function that closes the open connections.
 */
export function attachEcho(server: Server): () => void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LARGEST_MESSAGE });
  sockets.on('connection', (socket) => {
    // A protocol error of a client closes only its own connection.
    socket.on('error', () => socket.terminate());
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if ((request.url ?? '').split('?', 1)[0] !== PATH) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
  });
  return () => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  };
}
