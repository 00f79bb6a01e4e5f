import { request } from 'node:http';

/** The result of a request to a process that may die: the complete response, or `lost` if the outcome is unknown. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Record<string, unknown> }
  | { readonly kind: 'lost' };

export interface Posted {
  readonly outcome: Promise<Outcome>;
  /** Resolves at the first byte of the response; never resolves if there is none. */
  readonly begun: Promise<void>;
}

/** Posts a form on its own connection, so that no response waits for another and no request is retried. */
export function post(url: string, form: Readonly<Record<string, string | undefined>>): Posted {
  const fields = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined);
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const outcome = new Promise<Outcome>((resolve) => {
    const lost = () => resolve({ kind: 'lost' });
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    sent.on('error', lost);
    sent.on('response', (response) => {
      begin();
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', lost);
      response.on('close', () => {
        if (!response.complete) lost();
        else resolve({ kind: 'answered', status: response.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) });
      });
    });
    sent.end(String(new URLSearchParams(fields)));
  });
  return { outcome, begun };
}
