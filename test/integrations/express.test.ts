import { describeContract } from './contract.ts';
import { EXPRESS } from './frameworks.ts';

describeContract(EXPRESS);
