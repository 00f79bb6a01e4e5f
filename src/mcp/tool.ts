import type { MemberPrincipal, Principal } from '../oauth/principal.ts';
import type { Scope } from '../oauth/scope.ts';
import type { RoleRule } from '../roles/settings-rule.ts';
import type { OnLine } from '../upstream/body-lines.ts';

/** Why the signal aborts if the client has cancelled the call, in contrast to a connection that was lost. */
export const CANCELLED = new Error('The client has cancelled the call.');

/** The context of a tool call. */
export interface CallContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborts when the client disconnects or cancels, or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Takes the lines of an upstream's answer in which it may report progress; undefined if the client wants none. */
  readonly onLine?: OnLine | undefined;
}

/**
 * How a call ended: with a value, or with a message for the model. `incomplete` names what could not be read. `rest`
 * says what was left out and how to get it. `undone` means that nothing was changed for certain. `sessionOver` means
 * that the member must sign in again, which is for the app to do and not for the model. `refused` means that the member
 * lacks a role. `approval` is where the member can approve the call, and until when (ISO 8601).
 */
export type ToolOutcome =
  | { readonly kind: 'value'; readonly value: unknown; readonly incomplete?: readonly string[]; readonly rest?: string }
  | FailedOutcome;

export interface FailedOutcome {
  readonly kind: 'failed';
  readonly message: string;
  readonly undone?: true;
  readonly sessionOver?: true;
  readonly refused?: true;
  readonly approval?: { readonly url: string; readonly expiresAt: string };
}

export const MUST_SIGN_IN: FailedOutcome = {
  kind: 'failed',
  message: 'The member must sign in again.',
  undone: true,
  sessionOver: true,
};

/** The member who called a tool with scopes, which only members may call. */
export function memberOf(principal: Principal): MemberPrincipal {
  if (principal.kind !== 'member') throw new Error('a tool for members was called without a member');
  return principal;
}

/** Takes arguments that are valid under the input schema. Rejects with GatewayError if an upstream fails. */
export type Action = (input: Readonly<Record<string, unknown>>, context: CallContext) => Promise<ToolOutcome>;

/** A built action and its properties. */
export interface BuiltAction {
  readonly act: Action;
  /** Whether it changes nothing. */
  readonly readOnly: boolean;
  /** The scopes that it needs. The tool's own must include them. */
  readonly scopes: Iterable<string>;
  /** The role that it needs beside the tool's own, and which it checks itself. */
  readonly role?: RoleRule | undefined;
  /** Why it would do nothing, before its member is asked to approve the call; undefined if it would. */
  readonly refusal?: ((context: CallContext) => Promise<FailedOutcome | undefined>) | undefined;
  /** Whether its route holds such requests for the approval of the member. */
  readonly approve?: boolean | undefined;
}

/** A tool: what clients see of it, which scopes it needs, and what it does. */
export interface Tool {
  readonly name: string;
  readonly scopes: Scope;
  /** All of them are needed. Each call checks them. */
  readonly roles: readonly RoleRule[];
  /** The entry in `tools/list`. */
  readonly descriptor: ToolDescriptor;
  /** Whether calls may have an idempotency key. */
  readonly takesKey: boolean;
  readonly call: Action;
}

export interface ToolDescriptor {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown };
  readonly outputSchema?: { readonly type: 'object'; readonly [keyword: string]: unknown };
  readonly annotations: Readonly<Record<string, boolean | string>>;
  readonly _meta: Readonly<Record<string, unknown>>;
}
