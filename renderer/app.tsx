import { createRoot } from 'react-dom/client';
import { AppWindow } from './shell/window.tsx';
import { startDesktop } from './shell/desktop.ts';
import { isDesktop } from './shell/keyboard.ts';
import { startTheme } from './shell/theme.ts';
import { startCounting } from './store/counts.ts';
import { startEngine } from './store/engine.ts';
import type { OpenTransport } from './store/transport.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './bson/document.css';

/** Starts the app in `root`, on whatever way to the engine it is given. Answers how to take it down again. */
export function mountApp(root: HTMLElement, open: OpenTransport): () => void {
  startTheme();
  document.documentElement.dataset['shell'] = isDesktop ? 'desktop' : 'browser';
  const platform = window.forkyard?.platform;
  if (platform !== undefined) document.documentElement.dataset['platform'] = platform;
  const stopCounting = startCounting();
  const stopEngine = startEngine(open);
  const stopDesktop = window.forkyard === undefined ? undefined : startDesktop(window.forkyard);
  const tree = createRoot(root);
  tree.render(<AppWindow />);
  return () => {
    tree.unmount();
    stopDesktop?.();
    stopEngine();
    stopCounting();
  };
}
