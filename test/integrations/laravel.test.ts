import { describeContract } from './contract.ts';
import { LARAVEL } from './frameworks.ts';

describeContract(LARAVEL);
