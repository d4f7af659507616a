/** Records from the microphone. */

export interface Recording {
  /** Ends the recording. */
  stop(): Promise<{ name: string; contentType: string; bytes: Blob }>
}

/**
 * Starts a recording.
 * @throws Error if there is no microphone, or the user refuses it
 */
export async function record(): Promise<Recording> {
  // Processing for calls might remove the very sound that the user wants.
  const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
  // Undefined on pages that are neither served over HTTPS nor from localhost.
  const devices = navigator.mediaDevices as MediaDevices | undefined
  if (!devices) throw new Error('the page must come over https')
  const stream = await devices.getUserMedia({ audio: plain })
  const recorder = new MediaRecorder(stream)
  const pieces: Blob[] = []
  recorder.ondataavailable = ({ data }) => pieces.push(data)
  recorder.start()
  return {
    async stop() {
      const ended = new Promise((resolve) => (recorder.onstop = resolve))
      recorder.stop()
      await ended
      for (const track of stream.getTracks()) track.stop()
      const contentType = recorder.mimeType.replace(/;.*/, '')
      const extension = contentType.split('/')[1] ?? 'webm'
      return { name: `recording.${extension}`, contentType, bytes: new Blob(pieces) }
    },
  }
}
