import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { join } from 'node:path';

/**
 * What a package of the desktop app is. `scripts/package.mjs` adds what depends on the machine: where Electron is, and the
 * mongod to bundle. Fuses: docs/decisions/packaging.md.
 * @type {import('electron-builder').Configuration}
 */
export default {
  appId: 'dev.forkyard.app',
  productName: 'Forkyard',
  copyright: 'MIT licence',
  directories: { output: 'release', buildResources: 'resources' },
  // Everything but these is bundled into dist. Maps help whoever reads a stack in a log.
  files: [
    'package.json',
    'dist/electron/**',
    'dist/renderer/**',
    'resources/icons/*.png',
    '!**/node_modules/**',
    'node_modules/@reflink/**',
    '!node_modules/@reflink/**/*.md',
  ],
  asar: true,
  // A native module is loaded by the system, which cannot read archives.
  asarUnpack: ['node_modules/@reflink/**'],
  npmRebuild: false,
  afterPack: leaveOutMissingFuses,
  electronFuses: {
    runAsNode: false,
    enableCookieEncryption: true,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
  },
  protocols: [{ name: 'Forkyard branch', schemes: ['forkyard'] }],
  linux: {
    target: ['AppImage', 'deb'],
    executableName: 'forkyard',
    category: 'Development',
    icon: 'resources/icons',
    maintainer: 'Forkyard',
    synopsis: 'A real MongoDB database of its own for every agent, test and demo',
  },
  mac: {
    target: ['dmg', 'zip'],
    category: 'public.app-category.developer-tools',
    icon: 'resources/icons/icon.icns',
    hardenedRuntime: true,
    gatekeeperAssess: false,
    entitlements: 'resources/entitlements.mac.plist',
    entitlementsInherit: 'resources/entitlements.mac.plist',
  },
  win: { target: ['nsis'], icon: 'resources/icons/icon.ico' },
  nsis: { oneClick: true, perMachine: false },
};

/** An Electron older than a fuse has no place for it, and flipping it there fails the whole package. */
async function leaveOutMissingFuses({ appOutDir, packager }) {
  const { executableName, appInfo, platform, config } = packager;
  const binary = {
    linux: executableName,
    mac: `${appInfo.productFilename}.app`,
    windows: `${appInfo.productFilename}.exe`,
  };
  const wire = await getCurrentFuseWire(join(appOutDir, binary[platform.name]));
  for (const name of Object.keys(config.electronFuses)) {
    const option = FuseV1Options[name[0].toUpperCase() + name.slice(1)];
    if (wire[option] === undefined) delete config.electronFuses[name];
  }
}
