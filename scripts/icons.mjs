// `npm run icons`: draws the icon set from its SVG sources, with the browser of the tests. The results are committed.
import { chromium } from '@playwright/test';
import { Buffer } from 'node:buffer';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../resources/icons', import.meta.url));
const sizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
/** Apple's four-letter names of sizes that hold a PNG. */
const icnsTypes = { 16: 'icp4', 32: 'icp5', 64: 'icp6', 128: 'ic07', 256: 'ic08', 512: 'ic09', 1024: 'ic10' };
const icoSizes = [16, 24, 32, 48, 64, 128, 256];

const browser = await chromium.launch({
  executablePath: process.env.FORKYARD_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
  const page = await browser.newPage();
  const drawn = new Map();
  for (const size of sizes) {
    const bytes = await draw(page, 'icon.svg', size);
    drawn.set(size, bytes);
    save(`${size}x${size}.png`, bytes);
  }
  save('icon.icns', icns(drawn));
  save('icon.ico', ico(drawn));
  // The system finds both by their names: a template image, and the same for dense screens. Windows and Linux do not tint.
  for (const [name, colour] of [
    ['trayTemplate', '#000'],
    ['tray', '#8a9599'],
  ]) {
    save(`${name}.png`, await draw(page, 'tray.svg', 16, colour));
    save(`${name}@2x.png`, await draw(page, 'tray.svg', 32, colour));
  }
} finally {
  await browser.close();
}

async function draw(page, name, size, colour) {
  const source = readFileSync(join(folder, name), 'utf8');
  const svg =
    colour === undefined
      ? source
      : source.replace('stroke="#000"', `stroke="${colour}"`).replace('<circle', `<circle fill="${colour}"`);
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>*{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`);
  return page.screenshot({ omitBackground: true });
}

function save(name, bytes) {
  writeFileSync(join(folder, name), bytes);
  console.log(`${name}  ${bytes.length} bytes`);
}

/** 'icns', the length of all, then type, length and PNG of each. */
function icns(drawn) {
  const parts = Object.entries(icnsTypes).flatMap(([size, type]) => {
    const png = drawn.get(Number(size));
    return [Buffer.from(type, 'latin1'), bigEndian(png.length + 8), png];
  });
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([Buffer.from('icns', 'latin1'), bigEndian(length), ...parts]);
}

function bigEndian(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

/** A head, a directory of 16 bytes for each picture, then the PNGs. A side of 256 is written as 0. */
function ico(drawn) {
  const head = Buffer.alloc(6 + 16 * icoSizes.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(icoSizes.length, 4);
  let offset = head.length;
  icoSizes.forEach((size, index) => {
    const at = 6 + 16 * index;
    const { length } = drawn.get(size);
    head.writeUInt8(size % 256, at);
    head.writeUInt8(size % 256, at + 1);
    head.writeUInt16LE(1, at + 4);
    head.writeUInt16LE(32, at + 6);
    head.writeUInt32LE(length, at + 8);
    head.writeUInt32LE(offset, at + 12);
    offset += length;
  });
  return Buffer.concat([head, ...icoSizes.map((size) => drawn.get(size))]);
}
