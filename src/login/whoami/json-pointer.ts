export { at } from '../../http/json-pointer.ts';
