import { printable } from '../operator/connect/printable.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure } from './failure.ts';

/** What an admin listener, or something else at its address, has answered. */
export interface AdminAnswer {
  readonly status: number;
  /** The media type in lower case, '' if there is none. */
  readonly type: string;
  readonly location: string | undefined;
  readonly text: string;
}

/** Whether an answer is of a kind that an admin listener never gives to a program. */
export function isForeign({ status, type }: AdminAnswer): boolean {
  return (status >= 300 && status < 400) || type === 'text/html' || type === 'application/xhtml+xml';
}

/** The failure for an answer that no gate gives. It says what answered, in one line and without its markup. */
export function notAGate(address: string, answer: AdminAnswer): CommandFailure {
  return new CommandFailure(`No gate answers at ${address}, but something else: ${described(answer)}.`, {
    reason: 'Is this the address of the admin listener (listen.admin), and not that of the site?',
    code: EXIT.unavailable,
  });
}

function described({ status, type, location, text }: AdminAnswer): string {
  if (location !== undefined) return `${status}, a redirect to ${printable(location)}`;
  const title = /<title[^>]{0,100}>([^<]{0,200})/i.exec(text.slice(0, 20_000))?.[1]?.trim();
  if (title !== undefined) return `${status}, a page “${printable(title)}”`;
  if (text.trim() === '') return `${status} without content`;
  return type === 'text/plain' || type === '' ? `${status}, ${firstLine(text)}` : `${status} with ${printable(type)}`;
}

/** The first line of a text, safe for a terminal. */
export function firstLine(text: string): string {
  return printable(text.trim().split('\n')[0] ?? '').slice(0, 200);
}

/** The parsed text; undefined if it is no JSON. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
