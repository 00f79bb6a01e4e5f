import { describeContract } from './contract.ts';
import { DJANGO } from './frameworks.ts';

describeContract(DJANGO);
