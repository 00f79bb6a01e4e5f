import { describeContract } from './contract.ts';
import { RAILS } from './frameworks.ts';

describeContract(RAILS);
