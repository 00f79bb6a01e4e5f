import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { valueAt } from '../config/tree.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/**
 * Asks a client that says it opens addresses (URL elicitation, in 2026-07-28) to open the page of the approval, and to
 * repeat the call. Once: what the client answers counts for nothing, and if it showed nothing, the result has the link.
 */
export function approvalRequest(
  outcome: ToolOutcome,
  { descriptor }: Tool,
  { envelope, inputResponses, droppedInputResponseKeys }: ServerContext['mcpReq'],
): InputRequiredResult | undefined {
  const url = outcome.kind === 'failed' ? outcome.approval?.url : undefined;
  if (url === undefined || (inputResponses ?? droppedInputResponseKeys) !== undefined) return undefined;
  if (valueAt(envelope, [CLIENT_CAPABILITIES_META_KEY, 'elicitation', 'url']) === undefined) return undefined;
  const approval = inputRequired.elicitUrl({ message: `Approve this call: ${descriptor.title}`, url });
  return inputRequired({ inputRequests: { approval } });
}
