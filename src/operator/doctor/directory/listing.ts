import type { JsonObject } from '../../../http/json-object.ts';
import { checksOf } from '../check.ts';
import type { Facts } from '../facts/facts.ts';
import type { ExaminedSite } from '../site.ts';
import type { ToolCall } from './calls.ts';
import type { ListedCard, ListedTool, ToolServer } from './tools.ts';

/** The directories of assistants whose rules are known. */
export type DirectoryName = 'claude' | 'openai';

interface OwnSettings {
  /** A mailto: or https address. */
  readonly support: string | undefined;
  readonly tools: readonly { readonly name: string; readonly annotations: JsonObject }[];
}

/** What is known of a deployment that is to be listed, besides its address. */
export interface Listing {
  readonly directory: DirectoryName;
  /** An access token of the reviewers' account. */
  readonly token: string | undefined;
  /** What the operator's configuration says. */
  readonly own: OwnSettings | undefined;
}

/** What the rules of directories need to know besides the facts about a deployment. */
export interface ListingFacts extends Facts {
  readonly toolServer: ToolServer;
  /** The tools that are listed to a stranger, or with the token. */
  readonly tools: readonly ListedTool[];
  /** Calls of tools that only read. */
  readonly calls: readonly ToolCall[];
  readonly cards: readonly ListedCard[];
  /** What the server says of itself at `initialize`. */
  readonly serverInfo: JsonObject;
}

export type ExaminedListing = ExaminedSite & Listing;

/** Makes checks of a deployment that is to be listed. */
export const listingChecks = checksOf<ExaminedListing, ListingFacts>();
