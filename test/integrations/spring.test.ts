import { describeContract } from './contract/contract.ts';
import { SPRING } from './contract/frameworks.ts';

describeContract(SPRING);
