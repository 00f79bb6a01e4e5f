import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { rawStoreConformance, storeConformance } from '../conformance.ts';

storeConformance('memory', memoryStore);
rawStoreConformance('memory', memoryStore);
