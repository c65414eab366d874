import { changeSomething, resetDemo } from '../branches/demo.ts';
import type { Methods } from './service.ts';

export const demoMethods: Methods<'demo.change' | 'demo.reset'> = {
  async 'demo.change'({ workspace }, { branch }) {
    return changeSomething(await workspace.branch(branch));
  },

  async 'demo.reset'({ workspace, emit }, { job }, { signal }) {
    return resetDemo(workspace, {
      signal,
      onProgress: ({ text, done, total }) => {
        if (job === undefined) return;
        const counted = { ...(done === undefined ? {} : { done }), ...(total === undefined ? {} : { total }) };
        emit({ type: 'progress', job, text, ...counted });
      },
    });
  },
};
