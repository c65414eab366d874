/** What the shop sells, by the two letters its article numbers begin with. Prices in euros. */
export const ranges = [
  {
    prefix: 'KB',
    category: 'input/keyboards',
    count: 214,
    prices: [59, 249],
    kilograms: [0.5, 1.4],
    forms: ['65 keyboard', '75 keyboard', 'compact keyboard', 'split keyboard', 'full-size keyboard', 'number pad'],
    tags: ['typing', '75%', '65%', 'wireless', 'hot-swap'],
  },
  {
    prefix: 'MS',
    category: 'input/mice',
    count: 206,
    prices: [24, 139],
    kilograms: [0.05, 0.2],
    forms: ['mouse', 'vertical mouse', 'trackball', 'travel mouse', 'mouse mat'],
    tags: ['wireless', 'left-handed', 'quiet'],
  },
  {
    prefix: 'DK',
    category: 'desks',
    count: 210,
    prices: [189, 899],
    kilograms: [14, 48],
    forms: ['standing desk', 'folding desk', 'writing desk', 'corner desk', 'desk top'],
    tags: ['height-adjustable', 'flat-pack', 'solid wood'],
  },
  {
    prefix: 'CH',
    category: 'seating',
    count: 208,
    prices: [79, 649],
    kilograms: [4, 19],
    forms: ['side chair', 'task chair', 'drafting stool', 'kneeling stool', 'bench'],
    tags: ['adjustable', 'mesh', 'stackable'],
  },
  {
    prefix: 'LT',
    category: 'lighting',
    count: 204,
    prices: [29, 259],
    kilograms: [0.4, 6],
    forms: ['desk lamp', 'arc floor lamp', 'clamp light', 'monitor light', 'shelf light'],
    tags: ['dimmable', 'warm white', 'usb-c'],
  },
  {
    prefix: 'MN',
    category: 'displays',
    count: 204,
    prices: [169, 1290],
    kilograms: [2.5, 9],
    forms: ['24 in. monitor', '27 in. monitor', '32 in. monitor', 'ultrawide monitor', 'portable monitor'],
    tags: ['4k', 'usb-c', 'matte'],
  },
  {
    prefix: 'HS',
    category: 'audio/stands',
    count: 200,
    prices: [19, 89],
    kilograms: [0.2, 1.1],
    forms: ['headphone stand', 'headphone hook', 'microphone arm', 'speaker stand'],
    tags: ['felt', 'clamp', 'cable channel'],
  },
  {
    prefix: 'ST',
    category: 'stands',
    count: 208,
    prices: [29, 179],
    kilograms: [0.5, 4],
    forms: ['laptop stand', 'monitor arm', 'monitor riser', 'tablet stand', 'monitor arm, dual'],
    tags: ['folding', 'gas spring', 'vesa'],
  },
  {
    prefix: 'SH',
    category: 'storage',
    count: 206,
    prices: [15, 229],
    kilograms: [0.4, 12],
    forms: ['cable tray', 'wall shelf', 'drawer unit', 'pegboard', 'pen tray'],
    tags: ['steel', 'modular', 'under-desk'],
  },
  {
    prefix: 'BG',
    category: 'bags',
    count: 204,
    prices: [35, 189],
    kilograms: [0.3, 1.6],
    forms: ['laptop bag', 'backpack', 'tote', 'sleeve', 'cable pouch'],
    tags: ['waterproof', '14 in.', '16 in.'],
  },
  {
    prefix: 'AU',
    category: 'audio',
    count: 208,
    prices: [39, 549],
    kilograms: [0.2, 7],
    forms: ['studio headphones', 'bookshelf speakers', 'desk microphone', 'earphones', 'audio interface'],
    tags: ['closed-back', 'usb-c', 'wireless'],
  },
  {
    prefix: 'CB',
    category: 'cables',
    count: 208,
    prices: [7, 59],
    kilograms: [0.03, 0.4],
    forms: ['braided cable, 1 m', 'braided cable, 2 m', 'charging cable', 'video cable', 'cable ties'],
    tags: ['usb-c', '100 w', '8k'],
  },
] as const;

/** Articles that every copy of the shop has: number, name, cents, stock. */
export const fixedArticles: readonly (readonly [sku: string, name: string, cents: number, stock: number])[] = [
  ['KB-088', 'Walnut number pad', 7900, 12],
  ['KB-101', 'Oak 65 keyboard', 11900, 33],
  ['KB-104', 'Walnut 75 keyboard', 12900, 14],
  ['KB-110', 'Split keyboard', 15800, 29],
  ['MS-190', 'Trackball, oak', 11500, 14],
  ['MS-220', 'Marble mouse', 8900, 0],
  ['DK-120', 'Folding desk, birch', 26500, 31],
  ['DK-310', 'Oak standing desk', 42000, 14],
  ['DK-311', 'Walnut standing desk', 52000, 6],
  ['CH-077', 'Kneeling stool', 10900, 18],
  ['CH-190', 'Drafting stool', 24500, 22],
  ['CH-204', 'Mesh task chair', 34900, 9],
  ['LT-009', 'Arc floor lamp', 21000, 7],
  ['MN-027', '27 in. monitor', 34900, 41],
  ['MN-032', '32 in. monitor', 46900, 22],
  ['ST-002', 'Monitor arm, dual', 12900, 54],
  ['ST-016', 'Laptop stand, birch', 10400, 88],
  ['SH-044', 'Cable tray, steel', 14900, 120],
  ['BG-011', 'Canvas laptop bag', 11200, 19],
  ['AU-002', 'Desk microphone', 10600, 37],
  ['AU-015', 'Bookshelf speakers', 31000, 9],
  ['AU-021', 'Studio headphones', 18900, 26],
  ['CB-012', 'Braided cable, 2 m', 1900, 60],
];

/** Numbers the shop has not given out, so that an example can. */
export const freeNumbers: readonly string[] = ['CH-118', 'LT-031', 'LT-032', 'HS-007'];

export const materials = words(
  'Walnut, Oak, Maple, Ash, Birch, Cherry, Linen, Felt, Steel, Brass, Slate, Marble, Cork, Bamboo, ' +
    'Aluminium, Canvas',
);
export const finishes = words('natural, smoked, white oil, matte black, black ash, sand, graphite, moss');
export const suppliers = words('NORDHOLZ, ALTO-WORKS, BRIGHTLINE, KAWA, SOLENT, TERZO');

export const firstNames = words(
  'Ada, Amira, Anton, Beatriz, Björn, Chiara, Daan, Elif, Emil, Fatou, Freja, Giulia, Hana, Ines, ' +
    'Jakub, Jörg, Kaito, Lea, Łukasz, Mateo, Mila, Nadia, Niamh, Noor, Olga, Pau, Quentin, Rosa, Samir, ' +
    'Siobhán, Tomás, Uma, Vera, Wout, Yuki, Zoë',
);
export const lastNames = words(
  'Almeida, Andersson, Bakker, Bianchi, Brandt, Çelik, Dubois, Eriksen, Fischer, García, Haas, ' +
    "Horváth, Ito, Jansen, Kovač, Lindqvist, Moreau, Müller, Nowak, O'Brien, Okafor, Petrov, Quinn, " +
    'Rossi, Santos, Schäfer, Tanaka, Ueda, Varga, Weber, Yıldız, Zimmermann',
);
export const streets = words(
  'Ahornweg, Bergstraat, Calle Mayor, Dorfstraße, Elm Road, Gartenstraße, High Street, Kanaalkade, ' +
    'Lindenallee, Rua das Flores, Rue du Moulin, Storgatan, Via Roma, Vinohradská',
);

/** Longitude and latitude of the centre. */
export const cities = [
  { city: 'Berlin', country: 'DE', postcode: '10', at: [13.405, 52.52] },
  { city: 'Hamburg', country: 'DE', postcode: '20', at: [9.993, 53.551] },
  { city: 'München', country: 'DE', postcode: '80', at: [11.582, 48.135] },
  { city: 'Wien', country: 'AT', postcode: '1', at: [16.373, 48.208] },
  { city: 'Zürich', country: 'CH', postcode: '8', at: [8.541, 47.377] },
  { city: 'Amsterdam', country: 'NL', postcode: '10', at: [4.904, 52.368] },
  { city: 'Antwerpen', country: 'BE', postcode: '20', at: [4.402, 51.219] },
  { city: 'Lyon', country: 'FR', postcode: '690', at: [4.835, 45.764] },
  { city: 'Milano', country: 'IT', postcode: '201', at: [9.19, 45.464] },
  { city: 'Porto', country: 'PT', postcode: '4', at: [-8.629, 41.158] },
  { city: 'Valencia', country: 'ES', postcode: '460', at: [-0.376, 39.47] },
  { city: 'Göteborg', country: 'SE', postcode: '41', at: [11.975, 57.709] },
  { city: 'København', country: 'DK', postcode: '1', at: [12.568, 55.676] },
  { city: 'Kraków', country: 'PL', postcode: '30', at: [19.945, 50.065] },
  { city: 'Praha', country: 'CZ', postcode: '11', at: [14.438, 50.076] },
] as const;

function words(list: string): readonly string[] {
  return list.split(', ');
}
