import { describeContract } from './contract/contract.ts';
import { LARAVEL } from './contract/frameworks.ts';

describeContract(LARAVEL);
