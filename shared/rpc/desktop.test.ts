import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Desktop, DesktopMessage } from '../desktop.ts';
import { connect } from './connect.ts';
import { desktopTransport } from './desktop.ts';
import { EventRing } from './event-ring.ts';
import { messagePortTransport } from './message-port.ts';
import { serve } from './serve.ts';

let page: EventTarget;
beforeEach(() => vi.stubGlobal('window', (page = new EventTarget())));
afterEach(() => vi.unstubAllGlobals());

/** What the preload script posts to its own window. */
function post(message: DesktopMessage, ports: MessagePort[] = [], source: unknown = page): void {
  page.dispatchEvent(Object.assign(new Event('message'), { data: message, ports, source }));
}

function enginePort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  serve(messagePortTransport(port1), {
    engine: { call: async (_m, input) => input as never },
    events: new EventRing(),
  });
  return port2;
}

const desktop = (connectIt: Desktop['connect']): Desktop => ({
  platform: 'linux',
  connect: connectIt,
  copyText: async () => {},
  chooseFiles: async () => [],
  describe: async () => {},
  notify: async () => {},
  showLogs: async () => {},
});

test.each(['before', 'after'])('a port that comes %s the answer reaches the engine', async (when) => {
  const transport = desktopTransport(
    desktop(async () => {
      if (when === 'before') post({ forkyard: 'port', connection: 3 }, [enginePort()]);
      else setImmediate(() => post({ forkyard: 'port', connection: 3 }, [enginePort()]));
      return { connection: 3 };
    }),
  );
  const client = connect(await transport);
  expect(await client.call('log.list', { branch: 'b' })).toEqual({ branch: 'b' });
  client.close();
});

test('it closes when the app says that the engine is gone, for this connection alone', async () => {
  const transport = await desktopTransport(
    desktop(async () => {
      post({ forkyard: 'port', connection: 1 }, [enginePort()]);
      return { connection: 1 };
    }),
  );
  const closed = vi.fn();
  transport.onClose(closed);
  post({ forkyard: 'closed', connection: 2 });
  post({ forkyard: 'closed', connection: 1 }, [], 'another window');
  expect(closed).not.toHaveBeenCalled();
  post({ forkyard: 'closed', connection: 1 });
  expect(closed).toHaveBeenCalledOnce();
});

test('what kept the engine from starting is thrown as it was', async () => {
  const error = { code: 'mongod_missing' as const, message: 'No mongod.', hint: 'Get one.', retry: false };
  await expect(desktopTransport(desktop(async () => ({ error })))).rejects.toMatchObject(error);
});
