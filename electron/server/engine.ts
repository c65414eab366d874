import { startEngine } from '../engine/service/service.ts';
import { engineProcess } from './process.ts';

await engineProcess(startEngine, process.argv.slice(2));
