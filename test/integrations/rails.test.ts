import { describeContract } from './contract/contract.ts';
import { RAILS } from './contract/frameworks.ts';

describeContract(RAILS);
