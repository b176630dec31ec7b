// NeatapticTS's own code: NEATAPTIC_TS names a folder of its repository in which it is built, so
// that dist/neataptic.js is there. It is no package of the registry.
'use strict';
const path = require('node:path');
const { pathToFileURL } = require('node:url');

exports.neatapticTS = async () => {
  const folder = process.env.NEATAPTIC_TS;
  return folder ? import(pathToFileURL(path.resolve(folder, 'dist', 'neataptic.js'))) : null;
};
