import { once } from '../../../http/once.ts';
import { readTexts } from '../../texts.ts';

/**
 * Codes in words, from a YAML file in the folder of the console. Undefined for a code that is not in it.
 *
 * @param file - such as `recorder/outcomes.yaml`
 */
export function wordsOf(file: string): (code: string) => string | undefined {
  const texts = once(() => readTexts([`operator/console/${file}`], ['text']));
  return (code) => texts().get(code)?.text;
}
