import './old-node.ts';
import { parseArgs } from 'node:util';
import { startEngine } from '../engine/service/service.ts';
import { dataFolder } from '../local/data.ts';
import { collectEarly } from './garbage.ts';
import { utilityProcess } from './utility-process.ts';
import type { ParentPort } from './utility-process.ts';

const { values } = parseArgs({ options: { data: { type: 'string' } } });
// Electron's, in a utility process alone.
const { parentPort } = process as unknown as { parentPort: ParentPort };
collectEarly();
void utilityProcess(startEngine, dataFolder(values.data), parentPort);
