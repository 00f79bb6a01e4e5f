import type { CommandedBy } from '../../authorization-server/administration/account-control.ts';
import type { Html } from '../../http/html.ts';
import type { ConsoleSources } from './sources.ts';

/** What a signed-in operator asks of a page, already bounded and checked. */
export interface ConsoleRequest {
  /** Of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Of a POST, without `csrf`. */
  readonly form: Readonly<Record<string, string>>;
  /** For the page's own forms: the value of a hidden field named `csrf`. */
  readonly csrf: string;
  /** Who acts, for the audit. Its reason is the form's field `reason`, if there is one. */
  readonly decision: CommandedBy;
}

/**
 * A page: everything below its heading, and the heading if it is another than that of the row. Or a 303: to a path of the
 * console, where the notice `done` is shown once, or with `leave` to another path of the admin listener.
 */
export type ConsoleAnswer =
  | { readonly title?: string; readonly body: Html }
  | { readonly see: string; readonly done: string }
  | { readonly leave: string };

/** Answers a request. Each page names what it sees of the sources. A GatewayError becomes a page with its message. */
type Answering<Sources> = (sources: Sources, request: ConsoleRequest) => Promise<ConsoleAnswer>;

/** A row in the table of pages. */
export interface ConsolePage<Sources = ConsoleSources> {
  /** Below /console, in Express' form: `/members/:id`. */
  readonly path: string;
  /** Its heading, which is also the title of the window. */
  readonly title: string;
  /** Its entry in the navigation. */
  readonly entry?: string;
  /** The path of the page whose entry is marked instead, if that is not the first part of its own path. */
  readonly under?: string;
  /** Answers a GET, which changes nothing. */
  readonly show?: Answering<Sources> | undefined;
  /** Answers a POST. */
  readonly submit?: Answering<Sources> | undefined;
}
