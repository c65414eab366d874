import { documentsIn } from './data.ts';
import type { Figure } from './figure.ts';
import { knowsPeak, peakMB, resetPeak, residentMB } from './memory.ts';
import { milliseconds, type BenchRun } from './run.ts';
import type { BenchYard } from './yard.ts';

export function diffFigures(run: BenchRun): { readonly time: Figure; readonly memory: Figure } {
  return {
    time: run.figure({ name: `diff_of_3_ms.${run.largest}`, unit: 'ms', target: 100 }),
    // The first one takes most: what it leaves in the heap the next ones use again.
    memory: run.figure({ name: `diff_of_3_memory_mb.${run.largest}`, unit: 'MB', target: 50, judge: 'worst' }),
  };
}

/** Two documents modified and one removed among many, then compared; memory is the engine's peak above what it had. */
export async function diffOfThree(
  yard: BenchYard,
  branch: string,
  size: number,
  { time, memory }: ReturnType<typeof diffFigures>,
): Promise<string> {
  if (!knowsPeak) memory.skip("only Linux tells a process's peak");
  const documents = documentsIn(await yard.mongo(branch));
  const [first, middle, last] = [0, Math.floor(size / 2), size - 1];
  await documents.updateOne({ _id: first }, { $inc: { n: 1 } });
  await documents.updateOne({ _id: middle }, { $set: { name: 'Changed' } });
  await documents.deleteOne({ _id: last });
  await yard.reached(branch, 3);
  const had = residentMB(yard.pid);
  if (knowsPeak) resetPeak(yard.pid);
  const asked = performance.now();
  const diff = await yard.measured(`diff-of-3-${branch}`, () => yard.client.call('diff.get', { branch }));
  const ms = performance.now() - asked;
  const added = knowsPeak ? Math.max(0, peakMB(yard.pid) - had) : 0;
  if (diff.documents.length !== 3) throw new Error(`the diff holds ${diff.documents.length} documents, not 3`);
  time.add(ms);
  if (knowsPeak) memory.add(added);
  return `diff in ${milliseconds(ms)} and ${added.toFixed(1)} MB`;
}
