/** The parts of wavesurfer.js that the page uses, in a script of their own. */

export { default as WaveSurfer } from 'wavesurfer.js'
export { default as RegionsPlugin } from 'wavesurfer.js/plugins/regions'
export { default as SpectrogramPlugin } from 'wavesurfer.js/plugins/spectrogram'
