import { createHash, createHmac, randomBytes } from 'node:crypto';

export const COMMAND_SECRET = 'a-secret-that-backend-and-gate-share';

export interface CommandOptions {
  readonly method?: string;
  readonly body?: string;
  readonly secret?: string;
  /** Unix seconds. */
  readonly time?: number;
  readonly nonce?: string;
  /** Signed instead of the path that is sent. */
  readonly signedPath?: string;
  readonly signedBody?: string;
  readonly signedMethod?: string;
  /** Further header fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** The signature field a backend sends with a command, implemented from docs/backend-events.md. */
export function commandSignature(path: string, options: CommandOptions = {}): string {
  const { method = 'POST', body = '', secret = COMMAND_SECRET } = options;
  const time = options.time ?? Math.floor(Date.now() / 1000);
  const nonce = options.nonce ?? randomBytes(16).toString('hex');
  const digest = createHash('sha256')
    .update(options.signedBody ?? body)
    .digest('hex');
  const line = `${options.signedMethod ?? method} ${options.signedPath ?? path}`;
  const text = `coursegate-v1\n${time}\n${nonce}\n${line}\n${digest}`;
  return `t=${time},n=${nonce},v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

export interface Commanded {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Sends a signed command to an admin listener. */
export async function command(admin: string, path: string, options: CommandOptions = {}): Promise<Commanded> {
  return send(admin, path, options, { 'coursegate-signature': commandSignature(path, options), ...options.fields });
}

/** Sends a command with these header fields. */
export async function send(
  admin: string,
  path: string,
  { method = 'POST', body }: CommandOptions,
  headers: Record<string, string> = {},
): Promise<Commanded> {
  const answer = await fetch(admin + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await answer.text();
  const isJson = /json$/.test(answer.headers.get('content-type') ?? '');
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : { text } };
}
