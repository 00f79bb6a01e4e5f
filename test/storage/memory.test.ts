import { memoryStore } from '../../src/storage/memory.ts';
import { storeConformance } from './conformance.ts';

storeConformance('memory', memoryStore);
