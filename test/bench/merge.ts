/** What a merge costs: plan and apply of many changes, the comparison itself, and a branch verified whole. */
import { BSON } from 'mongodb';
import { compareDocument } from '../../shared/changes/compare.ts';
import { documentOf, documentsIn, load } from './data.ts';
import type { Figure } from './figure.ts';
import { knowsPeak, peakMB, resetPeak } from './memory.ts';
import { milliseconds, type BenchRun, type Scene } from './run.ts';
import { BenchYard, dataFolderFor } from './yard.ts';

const changeCounts = [10_000, 100_000];
const compared = 20_000;

export function mergeScene(run: BenchRun): Scene {
  const plans = changeCounts.map((changes) => ({
    changes,
    plan: run.figure({ name: `merge.plan_ms.${changes}_changes`, unit: 'ms', target: changes / 5 }),
    apply: run.figure({ name: `merge.apply_ms.${changes}_changes`, unit: 'ms', target: (changes * 3) / 10 }),
  }));
  const size = run.largest;
  const threeWay = run.figure({ name: 'merge.three_way_per_s', unit: '1/s', target: 20_000, atLeast: true });
  const seconds = run.figure({ name: `merge.verify_s.${size}_documents`, unit: 's', target: 30 });
  const speed = run.figure({
    name: `merge.verify_mb_per_s.${size}_documents`,
    unit: 'MB/s',
    target: 40,
    atLeast: true,
  });
  const memory = run.figure({
    name: `merge.verify_memory_mb.${size}_documents`,
    unit: 'MB',
    target: 200,
    judge: 'worst',
  });
  return {
    title: 'merge',
    figures: [...plans.flatMap(({ plan, apply }) => [plan, apply]), threeWay, seconds, speed, memory],
    async run() {
      if (threeWay.wanted) await run.repeat('three-way compare', () => Promise.resolve(compareMany(threeWay)));
      const yard = await BenchYard.open(run, dataFolderFor(run, 'merge'));
      run.say(`main of ${size} documents`);
      await load(yard, 0, size);
      // First: a process gives back little of what larger jobs before it took.
      if (!knowsPeak) memory.skip("only Linux tells a process's peak");
      if ([seconds, speed, memory].some(({ wanted }) => wanted))
        await run.repeat(`verify ${size} documents`, () => verifyWhole(yard, size, { seconds, speed, memory }));
      for (const { changes, plan, apply } of plans) {
        if (!plan.wanted && !apply.wanted) continue;
        if (changes > size) [plan, apply].forEach((figure) => figure.skip(`main holds ${size} documents`));
        else await run.repeat(`${changes} changes`, (index) => mergeMany(yard, changes, index, plan, apply));
      }
      await yard.close();
    },
  };
}

/** Documents of 1 KB that both sides changed: one field apart, one alike, one on the branch alone. */
function compareMany(figure: Figure): string {
  const sides = Array.from({ length: compared }, (_, id) => {
    const base = documentOf(id);
    return {
      base: BSON.serialize(base),
      parent: BSON.serialize({ ...base, n: 1, active: !base.active }),
      branch: BSON.serialize({ ...base, n: 2, active: !base.active, tags: [...base.tags, 'new'] }),
    };
  });
  const started = performance.now();
  const conflicts = sides.filter((each) => compareDocument(each)?.conflict === true).length;
  const perSecond = (compared / (performance.now() - started)) * 1_000;
  if (conflicts !== compared) throw new Error(`${conflicts} conflicts, not ${compared}`);
  figure.add(perSecond);
  return `${Math.round(perSecond)} documents a second`;
}

async function mergeMany(
  yard: BenchYard,
  changes: number,
  index: number,
  plan: Figure,
  apply: Figure,
): Promise<string> {
  const { name: branch } = await yard.fork();
  await documentsIn(await yard.mongo(branch)).updateMany(
    { _id: { $lt: changes } },
    { $inc: { n: 1 }, $set: { name: `Changed ${index}` } },
  );
  await yard.settle(branch);
  if (knowsPeak) resetPeak(yard.pid);
  const planned = performance.now();
  const made = await yard.measured(`merge-plan-${changes}-${index}`, () => yard.client.call('plan.create', { branch }));
  const planMs = performance.now() - planned;
  const asked = performance.now();
  const { applied } = await yard.measured(`merge-apply-${changes}-${index}`, () =>
    yard.client.call('plan.apply', { plan: made.plan }),
  );
  const applyMs = performance.now() - asked;
  const peak = knowsPeak ? `, engine at most ${Math.round(peakMB(yard.pid))} MB` : '';
  if (applied !== changes) throw new Error(`${applied} changes applied, not ${changes}`);
  plan.add(planMs);
  apply.add(applyMs);
  await yard.settle('main');
  await yard.discard(branch);
  return `plan ${milliseconds(planMs)}, apply ${milliseconds(applyMs)}${peak}`;
}

/** A branch of which one document in a hundred was changed; memory is all that the engine's process holds at its peak. */
async function verifyWhole(
  yard: BenchYard,
  size: number,
  { seconds, speed, memory }: Readonly<Record<'seconds' | 'speed' | 'memory', Figure>>,
): Promise<string> {
  const { name: branch } = await yard.fork();
  await documentsIn(await yard.mongo(branch)).updateMany({ _id: { $mod: [100, 1] } }, { $inc: { n: 1 } });
  await yard.settle(branch);
  if (knowsPeak) resetPeak(yard.pid);
  const answer = await yard.measured(`verify-${branch}`, () => yard.client.call('branches.verify', { branch }));
  const peak = knowsPeak ? peakMB(yard.pid) : 0;
  const { exact, parentExact, documents } = answer;
  if (!exact || parentExact !== true || documents !== size) throw new Error(JSON.stringify(answer));
  seconds.add(answer.seconds);
  speed.add(answer.mbPerSecond);
  if (knowsPeak) memory.add(peak);
  await yard.discard(branch);
  return `${answer.seconds.toFixed(1)} s, ${answer.mbPerSecond} MB/s, peak ${Math.round(peak)} MB`;
}
