import { mountApp } from './app.tsx';
import { engineTransport } from './store/transport.ts';

const root = document.getElementById('root');
if (root !== null) mountApp(root, engineTransport());
