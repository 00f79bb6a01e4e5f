import type { Log } from './log.ts';

/** What happened to the tokens of one connection. Ids only: never a code or token, nor a part of one. */
export interface TokenEvent {
  readonly action:
    | 'token_issued'
    | 'token_refreshed'
    /** An answer that was given before was given again to the same request. */
    | 'token_answer_replayed'
    /** The client gave its token back (RFC 7009). */
    | 'token_revoked'
    /** The member cut it off, on the page of connected apps. */
    | 'app_disconnected'
    /** Somebody came with what had been used: everything issued on that grant is revoked (RFC 9700 §4.14.2, §4.5). */
    | 'code_reuse'
    | 'refresh_token_reuse';
  readonly clientId: string | undefined;
  readonly grantId: string | undefined;
  readonly member: string | undefined;
  /** Where the request came from. */
  readonly address: string | undefined;
  readonly requestId: string | undefined;
}

/** An app used a tool, or wanted to. What it sent and what it got are not told. */
interface ToolEvent extends Omit<TokenEvent, 'action'> {
  readonly action: 'tool_called';
  readonly tool: string;
  /** `refused`: the token did not cover it. */
  readonly outcome: 'success' | 'failure' | 'refused';
  readonly milliseconds: number;
}

type AuditEvent = TokenEvent | ToolEvent;

/** Records what happened, once it is certain. */
export type Audit = (event: AuditEvent) => void;

/** What an operator should look at. */
const ALARMING: ReadonlySet<AuditEvent['action']> = new Set(['code_reuse', 'refresh_token_reuse']);

/** Writes one log line per event, its fields named as in the Elastic Common Schema where that has a name. */
export function createAudit(log: Log): Audit {
  return (event) => {
    const { action, clientId, grantId, member, address, requestId } = event;
    const alarming = ALARMING.has(action);
    const call = event.action === 'tool_called' ? event : undefined;
    const line = {
      'event.kind': alarming ? 'alert' : 'event',
      'event.action': action,
      'event.outcome': alarming || (call !== undefined && call.outcome !== 'success') ? 'failure' : 'success',
      'oauth.client_id': clientId,
      'oauth.grant_id': grantId,
      'user.id': member,
      'source.address': address,
      'http.request.id': requestId,
      ...(call === undefined
        ? {}
        : {
            'event.duration': Math.round(call.milliseconds * 1e6),
            'event.reason': call.outcome === 'refused' ? 'insufficient_scope' : undefined,
            'mcp.tool': call.tool,
          }),
    };
    if (alarming) log.warn(line, 'audit');
    else log.info(line, 'audit');
  };
}
