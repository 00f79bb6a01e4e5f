import { ConnectError } from './connect-error.ts';

/** Bytes. No document that a site describes itself with should be longer. */
const LONGEST = 8 * 1024 * 1024;

/** The body of a response as text. Throws ConnectError if it is longer than LONGEST. */
async function responseText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array);
    length += (chunk as Uint8Array).length;
    if (length > LONGEST) throw new ConnectError(`${response.url} answered with more than 8 MiB.`, 'Ask it for less.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The body parsed as JSON, or the first event of a stream; undefined if it is neither. Throws as `responseText`. */
export async function responseJson(response: Response): Promise<unknown> {
  const text = await responseText(response);
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  try {
    return JSON.parse(isStream ? (/^data:(.*)$/m.exec(text)?.[1] ?? '') : text);
  } catch {
    return undefined;
  }
}
