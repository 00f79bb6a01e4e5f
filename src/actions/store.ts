import { action, type OperatorAction } from './action.ts';

export const STORE_ACTIONS: readonly OperatorAction[] = [
  action({
    id: 'store.reseal',
    path: '/store/reseal',
    values: ['from'],
    run: ({ store }, { body, decision }) => store.reseal(body.from, decision),
    audit: ['store_resealed'],
  }),
];
