import { toBase64 } from '../../../shared/bson/value.ts';
import type { Methods } from './service.ts';

const namedByDefault = 100;
const progressEveryMs = 200;

export const verifyMethods: Methods<'branches.verify'> = {
  async 'branches.verify'({ workspace, gaps, emit }, { branch: name, limit = namedByDefault, job }, { signal }) {
    const branch = await workspace.branch(name);
    const parent = branch.record.parent === undefined ? undefined : await workspace.parentOf(branch);
    let toldAt = 0;
    const onProgress = ({ documents, ns }: { documents: number; ns: string }) => {
      if (job === undefined || performance.now() - toldAt < progressEveryMs) return;
      toldAt = performance.now();
      emit({ type: 'progress', job, text: `${documents} documents compared, now ${ns}`, done: documents });
    };
    const found = await gaps.verify(branch, { limit, signal, onProgress });
    const { branchDifferences, parentDifferences, unverified, collections, documents, bytes, seconds } = found;
    return {
      branch: branch.record.name,
      ...(parent ? { parent: parent.record.name, parentExact: parentDifferences === 0 } : {}),
      exact: branchDifferences === 0 && unverified.length === 0,
      differences: {
        count: branchDifferences + parentDifferences,
        first: found.differences.map(({ key, ...rest }) => ({ ...rest, id: toBase64(key) })),
      },
      unverified: unverified.map(({ ns, reason }) => ({ ...(ns === '' ? {} : { ns }), reason })),
      collections,
      documents,
      bytes,
      seconds: Math.round(seconds * 1_000) / 1_000,
      mbPerSecond: Math.round(bytes / 1e5 / seconds) / 10,
    };
  },
};
