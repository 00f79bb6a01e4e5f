import { type FailureCode, GatewayError } from '../../errors.ts';
import { inEnglish, type Phrase } from './words.ts';

/** A failure that a person meets on our pages, with a phrase of its own in every catalogue. */
export class PageFailure extends GatewayError {
  readonly phrase: Phrase;

  constructor(code: FailureCode, phrase: Phrase) {
    super(code, { message: inEnglish(phrase) });
    this.phrase = phrase;
  }
}
