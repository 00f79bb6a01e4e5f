import { counted } from '../http/counted.ts';

export function grantsEnded({ ended }: { readonly ended: number }): string {
  return `${counted(ended, 'grant')} ended.`;
}
