import { checkTexts } from '../texts.ts';
import { Unavailable } from '../unavailable.ts';

/** For what no request shows. It is skipped with what the operator has to do, which is never counted as passed. */
export function unseen(id: string, what = checkTexts().get(id)?.fix): never {
  throw new Unavailable(`cannot be seen from here. ${what}`);
}
