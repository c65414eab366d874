import { startEngine } from '../engine/service/service.ts';
import { collectEarly } from './garbage.ts';
import { engineProcess } from './process.ts';

collectEarly();
await engineProcess(startEngine, process.argv.slice(2));
