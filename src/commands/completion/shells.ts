/** Shells with a completion script, and the name of the file that each looks for. */
export const SHELLS = { bash: 'coursegate', zsh: '_coursegate', fish: 'coursegate.fish' } as const;
export type Shell = keyof typeof SHELLS;
