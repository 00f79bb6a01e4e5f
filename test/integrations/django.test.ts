import { describeContract } from './contract/contract.ts';
import { describeEvents } from './contract/events.ts';
import { DJANGO } from './contract/frameworks.ts';

describeContract(DJANGO);
describeEvents(DJANGO);
