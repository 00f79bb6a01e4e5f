import type { CommandedBy } from '../authorization-server/administration/account-control.ts';
import type { Query } from '../authorization-server/administration/query.ts';
import type { GrantsOf } from '../authorization-server/grants.ts';
import type { AuditAction } from '../operations/audit.ts';
import type { Controls } from './controls.ts';
import type { ActionSubject, Described } from './subject.ts';

/** Characters of the reason for an action. */
export const LONGEST_REASON = 200;

/** What the backend and the operator can look up: a GET of the admin listener. */
export interface Lookup {
  readonly path: string;
  /** The allowed parameters. */
  readonly query: readonly string[];
  run(controls: Controls, input: { readonly id: string; readonly query: Query }): Promise<object>;
}

export interface ActionInput {
  /** `:id` in the path; '' if it has none. */
  readonly id: string;
  /** `:client` in the path of a page. */
  readonly client: string | undefined;
  /** The allowed values and switches that were given. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly decision: CommandedBy;
}

/**
 * What an operator can do, for the admin listener, the command line and the console. It is a row of the table of its
 * subject, whose key is the verb: `suspend` of members is `members suspend` on the command line. The command line loads
 * the rows without the gate: whatever they need of it at run time, they take from `Controls`.
 */
export interface OperatorAction<Reply extends object = object> {
  /** A POST of the admin listener, for the backend and the operator. Without it, only the console offers the action. */
  readonly path?: string;
  /** The members of the body besides `by`, `reason` and the switches. */
  readonly values?: readonly string[];
  /** Members of the body that are true or absent, with the help of their options on the command line. */
  readonly switches?: Readonly<Record<string, string>>;
  run(controls: Controls, input: ActionInput): Promise<Reply>;
  /** The audit line that the page of a member, an app or a grant shows, and its words there. */
  readonly audit?: readonly [action: AuditAction, words: string];
  /** What the id names. It is looked up first: an action on an unknown one is probably not meant. */
  readonly subject?: ActionSubject;
  /** Whose grants have changed, if not those of the subject alone. */
  touches?(reply: Reply): GrantsOf | 'everything';
  /** For what can be meant for an unknown id, too: what the command line asks then. It refuses other actions. */
  readonly anyway?: string;
  /** Whether the page of a member or an app offers it. */
  applies?(to: Described): boolean;
  /** What the command line says instead of doing what does not apply. */
  readonly idle?: string;
  /** The question before what takes access away. */
  ask?(context: ActionContext): ActionQuestion;
  /** What was done, for the console. */
  done?(reply: Reply, context: ActionContext): string;
  /** How the command line offers it. */
  readonly command?: ActionCommand;
  /** How the console offers it. */
  readonly page?: ActionPage;
}

/** The names and counts in the texts of an action. */
export interface ActionContext {
  /** The name of what it acts on, or the id if it has none. */
  readonly name: string;
  /** The name of the app, for an action on a grant or on one app of a member. */
  readonly app?: string | undefined;
  /** The name of the member, for an action on a grant. */
  readonly member?: string | undefined;
  /** How many active grants an app has. */
  readonly grants?: number | undefined;
  /** How many members have connected an app, and how many of them used it in the last seven days, if that is known. */
  readonly members?: { readonly all: number; readonly active: number } | undefined;
  readonly keyState?: 'signing' | 'next' | 'verifying' | undefined;
  /** Seconds for which verifiers may still not know the next signing key. */
  readonly unknownFor?: number | undefined;
}

interface ActionQuestion {
  readonly title: string;
  /** What will happen. */
  readonly text: string;
  /** Why it should probably not be done now. */
  readonly warning?: string;
  /** Whether access is taken away; true by default. */
  readonly danger?: boolean;
  /** For the console, if it differs from that of the page. */
  readonly button?: string;
  /** A switch that the confirmation turns on. */
  readonly turnsOn?: string;
}

interface ActionCommand {
  readonly description: string;
  /** After the words of the command. */
  readonly examples: readonly string[];
  /** In commander's form: `<member>` or `<members...>`. */
  readonly argument?: readonly [form: string, description: string];
}

/** Paths are below /console, in Express' form. */
export interface ActionPage {
  readonly path: string;
  /** The page that it is begun on, and that is shown afterwards. Its first part is the section of the console. */
  readonly back: string;
  readonly button: string;
  /** Whether its button comes before the others. */
  readonly first?: boolean;
}

/** Infers the reply of an action for its `done`. */
export function action<Reply extends object>(row: OperatorAction<Reply>): OperatorAction {
  return row;
}
