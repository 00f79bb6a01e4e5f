import { type FailureCode, GatewayError } from '../../errors.ts';
import { inEnglish, type Phrase } from './words.ts';

/** A failure shown to members on a page, with a phrase in every catalogue. */
export class PageFailure extends GatewayError {
  readonly phrase: Phrase;

  constructor(code: FailureCode, phrase: Phrase) {
    super(code, { message: inEnglish(phrase) });
    this.phrase = phrase;
  }
}
