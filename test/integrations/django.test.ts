import { describeContract } from './contract/contract.ts';
import { DJANGO } from './contract/frameworks.ts';

describeContract(DJANGO);
