import { action, type OperatorAction } from './action.ts';

export const ASSERTION_ACTIONS: readonly OperatorAction[] = [
  action({
    id: 'assertions.try',
    path: '/assertions/try',
    values: ['member'],
    run: ({ assertions }, { body, decision }) => assertions.try(body.member, decision),
    audit: ['assertions_tried'],
  }),
];
