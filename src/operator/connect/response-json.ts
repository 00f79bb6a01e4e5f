import { boundedJson, DOCUMENT_BOUNDS } from '../../http/bounded-json.ts';
import { ConnectError } from './connect-error.ts';

/** The body parsed as JSON, or the first event of a stream; undefined if it is neither. */
export async function responseJson(response: Response): Promise<unknown> {
  const text = await response.text();
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  return boundedJson(isStream ? (/^data:(.*)$/m.exec(text)?.[1] ?? '') : text, DOCUMENT_BOUNDS);
}

export function unusable(response: Response): ConnectError {
  return new ConnectError(
    `${response.url} answered ${response.status} without usable data.`,
    "Check the gate's log, and that the backend behind it is running.",
  );
}
