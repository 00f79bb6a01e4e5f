import type { CallToolResult } from '@modelcontextprotocol/server';
import { isObject } from '../http/json-object.ts';
import { type Challenge, formatChallenge } from '../oauth/challenge.ts';
import type { ToolOutcome } from './tool.ts';

/** What a call returns to the client (MCP, CallToolResult). */
export function toolResult(outcome: ToolOutcome): CallToolResult {
  if (outcome.kind === 'failed') {
    const { message, approval } = outcome;
    // Not as structured content, which clients hold to the tool's output schema even in an error.
    const _meta = approval && { _meta: { 'coursegate/approval': approval } };
    return { content: [{ type: 'text', text: message }], isError: true, ..._meta };
  }
  const { value } = outcome;
  return {
    content: [
      { type: 'text', text: JSON.stringify(value) ?? 'null' },
      ...remarks(outcome).map((text) => ({ type: 'text' as const, text })),
    ],
    ...(isObject(value) ? { structuredContent: value } : {}),
  };
}

/** Notes on what is missing from a result. */
export function remarks({ incomplete = [], rest }: Extract<ToolOutcome, { kind: 'value' }>): readonly string[] {
  return [
    ...(incomplete.length === 0 ? [] : [`Could not be read right now: ${incomplete.join(', ')}.`]),
    ...(rest === undefined ? [] : [rest]),
  ];
}

/** A challenge in the result, for clients that look for it there and offer to sign in. */
export function challengeResult(challenge: Challenge): CallToolResult {
  const text = challenge.status === 401 ? 'Sign in to use this tool.' : 'This needs more access than was granted.';
  return {
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { 'mcp/www_authenticate': [formatChallenge(challenge)] },
  };
}
