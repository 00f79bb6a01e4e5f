import { describeContract } from './contract/contract.ts';
import { describeEvents } from './contract/events.ts';
import { LARAVEL } from './contract/frameworks.ts';

describeContract(LARAVEL);
describeEvents(LARAVEL);
