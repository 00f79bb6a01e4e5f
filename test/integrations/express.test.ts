import { describeContract } from './contract/contract.ts';
import { EXPRESS } from './contract/frameworks.ts';

describeContract(EXPRESS);
