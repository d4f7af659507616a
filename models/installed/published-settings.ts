/**
 * Checks the settings that are published with a checkpoint. Errors name the network, the setting
 * and what would be right.
 */

export type Settings = Readonly<Record<string, unknown>>

/** Far above every published size, and low enough for loops and tables. */
const SIZE_MAX = 65_536
/** For sample rates and numbers of samples. */
export const SAMPLES_MAX = 2 ** 24
const STEMS_MAX = 16

interface SizeLimits {
  least?: number
  most?: number
  /** The size must be a multiple of this. */
  multiple?: number
}

/**
 * Returns the checks for one network.
 * @param network its name in error messages
 */
export function settingsOf(network: string) {
  const refuse = (need: string, value: unknown): never => {
    throw new Error(`${network} needs ${need}, not ${settingText(value)}`)
  }
  return {
    /** Throws an error that says what the network needs instead of `value`. */
    refuse,

    /**
     * Checks settings that have the same value in all published networks. With another value the
     * network would compute something else.
     */
    checkFixed(settings: Settings, fixed: Settings): void {
      for (const [name, value] of Object.entries(fixed)) {
        const [setting, only] = [settingText(settings[name]), settingText(value)]
        if (setting === only) continue
        throw new Error(`${network} with ${name} ${setting} is not supported, only ${only}`)
      }
    },

    size(name: string, value: unknown, limits: SizeLimits = {}): number {
      const { least = 1, most = SIZE_MAX, multiple = 1 } = limits
      const size = Number.isInteger(value) ? (value as number) : Number.NaN
      if (size >= least && size <= most && size % multiple === 0) return size
      const kind =
        multiple === 1
          ? `a whole number from ${least} to ${most}`
          : `a multiple of ${multiple} up to ${most}`
      return refuse(`${name} to be ${kind}`, value)
    },

    stems(name: string, value: unknown, least = 1): string[] {
      const names: unknown[] = Array.isArray(value) ? value : []
      const isStem = (stem: unknown) => typeof stem === 'string' && /^[a-z0-9_ -]{1,40}$/.test(stem)
      if (names.length >= least && names.length <= STEMS_MAX && names.every(isStem)) {
        return names as string[]
      }
      return refuse(`${name} to be ${least} to ${STEMS_MAX} names of stems`, value)
    },
  }
}

export const settingText = (value: unknown): string =>
  (JSON.stringify(value) ?? 'nothing').slice(0, 200)
