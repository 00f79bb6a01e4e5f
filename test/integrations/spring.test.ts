import { describeContract } from './contract/contract.ts';
import { describeEvents } from './contract/events.ts';
import { SPRING } from './contract/frameworks.ts';

describeContract(SPRING);
describeEvents(SPRING);
