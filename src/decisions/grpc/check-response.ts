import { type Answer, GatewayError, renderFailure } from '../../errors.ts';
import type { Forwarding } from '../forwarding.ts';

/** What is written of an envoy.service.auth.v3.CheckResponse. */
export interface CheckResponse {
  /** 0 lets the request pass; Envoy takes everything else for a refusal. */
  readonly status: { readonly code: number };
  readonly ok_response?: {
    readonly headers: readonly HeaderValueOption[];
    readonly headers_to_remove: readonly string[];
    readonly response_headers_to_add: readonly HeaderValueOption[];
  };
  readonly denied_response?: {
    readonly status: { readonly code: number };
    readonly headers: readonly HeaderValueOption[];
    readonly body: string;
  };
}

interface HeaderValueOption {
  readonly header: { readonly key: string; readonly value: string };
  readonly append_action: number;
}

const OK = 0;
const PERMISSION_DENIED = 7;
const OVERWRITE_IF_EXISTS_OR_ADD = 2;

/** Envoy sets these for the answer that it writes. */
const OF_THE_CONNECTION = new Set(['content-length', 'connection', 'keep-alive', 'transfer-encoding', 'date']);

export function admission({ set, remove, respond }: Forwarding): CheckResponse {
  return {
    status: { code: OK },
    ok_response: {
      headers: options(set),
      headers_to_remove: remove,
      response_headers_to_add: options(respond),
    },
  };
}

export function refusal({ status, headers, body }: Answer): CheckResponse {
  const passed = Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()));
  return {
    status: { code: PERMISSION_DENIED },
    denied_response: { status: { code: status }, headers: options(passed.flat()), body },
  };
}

/** For what cannot be decided. */
export function unavailable(requestId: string): CheckResponse {
  return refusal(renderFailure(new GatewayError('store_unavailable'), 'problem', requestId));
}

/** @param fields alternating names and values */
function options(fields: readonly string[]): HeaderValueOption[] {
  const all: HeaderValueOption[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const header = { key: (fields[at] as string).toLowerCase(), value: fields[at + 1] as string };
    all.push({ header, append_action: OVERWRITE_IF_EXISTS_OR_ADD });
  }
  return all;
}
