import { memoryStore } from '../../src/storage/sqlite.ts';
import { rawStoreConformance, storeConformance } from './conformance.ts';

storeConformance('memory', memoryStore);
rawStoreConformance('memory', memoryStore);
