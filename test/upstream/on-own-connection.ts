import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';

/** Sends a GET request on its own connection. Returns the head of the response, and the request so that a test can end it. */
export async function getOnOwnConnection(url: string, accept = '*/*'): Promise<[IncomingMessage, http.ClientRequest]> {
  const request = http.request(url, { agent: false, headers: { accept } });
  request.on('error', () => undefined);
  request.end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  return [answer, request];
}
