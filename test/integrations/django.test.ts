import { describeContract } from './contract/contract.ts';
import { describeEvents } from './contract/events.ts';
import { DJANGO, DJANGO_STUDENTS } from './contract/frameworks.ts';

describeContract(DJANGO);
describeEvents(DJANGO);
describeEvents(DJANGO_STUDENTS);
