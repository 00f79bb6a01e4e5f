import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, GatewayError } from '../errors.ts';
import type { Connections } from '../http/connections.ts';
import type { ProvenanceOf } from '../http/provenance.ts';
import type { RequestAdmission } from '../limits/admission.ts';
import type { Observer } from '../operations/observe/observer.ts';
import type { RequestRecords } from '../operations/request-records.ts';
import type { Gate } from '../resource-server/gate.ts';
import type { OpenAnswers } from '../resource-server/open-answers.ts';
import type { Routing } from '../upstream/routing.ts';
import type { Site } from '../upstream/site.ts';
import type { InFlight } from './in-flight.ts';
import type { MemberPages } from './member-pages.ts';
import type { Route } from './route.ts';

/** What the steps of a request need. All of it is built from one configuration. */
export interface RequestParts {
  readonly origin: string;
  /** The gate's name in Via. */
  readonly pseudonym: string;
  readonly memberPages: MemberPages;
  readonly connections: Connections;
  readonly routing: Routing<Route>;
  readonly provenanceOf: ProvenanceOf;
  readonly records: RequestRecords;
  readonly gate: Gate;
  readonly openAnswers: OpenAnswers;
  readonly admission: RequestAdmission;
  /** The legacy site, which gets everything that no route claims; undefined when there is none. */
  readonly site: Site | undefined;
  /** In observe mode: the observer, and the routes that are enforced nevertheless. */
  readonly observing: { readonly observer: Observer; readonly enforced: Routing<Route> } | undefined;
  /** The longest request target in characters, which are bytes: non-ASCII targets are refused. */
  readonly longestUrl: number;
  readonly inFlight: InFlight;
  readonly errorPage: (response: ServerResponse, failure: GatewayError, requestId: string) => void;
  /** Tells a person who opens an address for apps in a browser what it is, with the status and fields of the answer. */
  readonly appsOnly: (response: ServerResponse, answer: Pick<Answer, 'status' | 'headers'>) => void;
}

/** Whether this gate or one of its replicas has forwarded a request before. */
export function isLoop({ pseudonym }: RequestParts, { headers: { via } }: IncomingMessage): boolean {
  return via?.includes(pseudonym) === true;
}

/** In observe mode: whether only routes that are observed, not enforced, claim this address. */
export function isObserved({ observing }: RequestParts, method: string, path: string): boolean {
  return observing !== undefined && observing.enforced(method, path).kind === 'none';
}
