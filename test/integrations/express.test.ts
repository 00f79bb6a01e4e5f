import { describeContract } from './contract/contract.ts';
import { describeEvents } from './contract/events.ts';
import { EXPRESS } from './contract/frameworks.ts';

describeContract(EXPRESS);
describeEvents(EXPRESS);
