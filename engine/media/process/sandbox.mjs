// Replaces itself with a program that can only read and write the given files, open no socket and
// see no other process: `node sandbox.mjs OPTIONS [COMMAND…]`. OPTIONS is JSON with `reads` and
// `writes`, which are paths including everything beneath them; `channel`, the descriptor of Node's
// IPC if there is one; and `memory`, the descriptor of memory that it shares with the process that
// started it. Without COMMAND it prints what the kernel enforces, as JSON.
//
// Landlock restricts files, and a filter of system calls the rest. Both are set before the program
// starts, so that they hold for all of its threads. The program ends with the process that started
// this one. This is plain JavaScript, so that it starts without a compiler.

import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import koffi from 'koffi'

const libc = koffi.load('libc.so.6')
const prctl = libc.func('int prctl(int option, long a, void *b, long c, long d)')
const fcntl = libc.func('int fcntl(int descriptor, int command, int value)')
const execve = libc.func('int execve(str path, str *arguments, str *environment)')
const createRuleset = libc.func('syscall', 'long', ['long', 'void *', 'long', 'long'])
const addRule = libc.func('syscall', 'long', ['long', 'long', 'long', 'void *', 'long'])
const restrictSelf = libc.func('syscall', 'long', ['long', 'long', 'long'])

const PR_SET_PDEATHSIG = 1
const PR_SET_NO_NEW_PRIVS = 38
const PR_SET_SECCOMP = 22

const [text = '{}', ...command] = process.argv.slice(2)
const { reads = [], writes = [], channel, memory } = JSON.parse(text)
const SIGKILL = 9
prctl(PR_SET_PDEATHSIG, SIGKILL, null, 0, 0) // work that never ends must not outlive its engine
prctl(PR_SET_NO_NEW_PRIVS, 1, null, 0, 0) // without this, only root may set either restriction
const enforced = { landlock: restrictFiles(), calls: filterCalls() }
if (command.length > 0) become(command)
console.log(JSON.stringify(enforced))

/**
 * Restricts reading, writing and executing to the given paths, and forbids TCP and signals to other
 * processes, as far as the kernel can: see landlock(7). Version 1 came with Linux 5.13. Returns the
 * version of Landlock; 0 if the kernel has none.
 */
function restrictFiles() {
  const [CREATE_RULESET, RESTRICT_SELF, ASK_VERSION] = [444, 446, 1]
  const version = Number(createRuleset(CREATE_RULESET, null, 0, ASK_VERSION))
  if (version < 1) return 0
  const rights = 2n ** BigInt([13, 14, 15, 15, 16][Math.min(version, 5) - 1]) - 1n
  const attributes = Buffer.alloc(version < 4 ? 8 : version < 6 ? 16 : 24)
  attributes.writeBigUInt64LE(rights)
  if (version >= 4) attributes.writeBigUInt64LE(0b11n, 8) // binding and connecting TCP
  if (version >= 6) attributes.writeBigUInt64LE(0b11n, 16) // abstract sockets, signals
  const rules = Number(createRuleset(CREATE_RULESET, attributes, attributes.length, 0))
  if (rules < 0) throw new Error('Landlock could not create its rules')
  const READING = 0b1101n // executing, reading files, listing folders
  for (const path of [...reads, ...writes]) allow(rules, path, READING)
  for (const path of writes) allow(rules, path, rights)
  if (Number(restrictSelf(RESTRICT_SELF, rules, 0)) !== 0)
    throw new Error('Landlock refused its rules')
  closeSync(rules)
  return version
}

/** A path that is not there needs no rule. */
function allow(rules, path, rights) {
  const [ADD_RULE, PATH_BENEATH, O_PATH] = [445, 1, 0o10000000]
  const OF_A_FILE = 0b1100_0000_0000_0111n // executing, writing, reading, truncating, ioctl
  if (!existsSync(path)) return
  const descriptor = openSync(path, O_PATH)
  const rule = Buffer.alloc(12)
  rule.writeBigUInt64LE(statSync(path).isDirectory() ? rights : rights & OF_A_FILE)
  rule.writeInt32LE(descriptor, 8)
  const failed = Number(addRule(ADD_RULE, rules, PATH_BENEATH, rule, 0)) !== 0
  closeSync(descriptor)
  if (failed) throw new Error(`Landlock refused the rule for ${path}`)
}

/**
 * Makes some system calls of x86-64 fail with EPERM: those that make sockets, look into other
 * processes or their descriptors, hand work to the kernel past this filter, or load code into the
 * kernel. Returns whether the kernel filters.
 */
function filterCalls() {
  const REFUSED = [
    ...[41, 42, 49], // socket, connect, bind
    ...[101, 310, 311, 434, 438, 312], // ptrace, process_vm_*, pidfd_open, pidfd_getfd, kcmp
    ...[425, 321, 298, 323], // io_uring_setup, bpf, perf_event_open, userfaultfd
    ...[272, 308, 165, 175, 313, 248, 249, 250], // unshare, setns, mount, *init_module, key calls
  ]
  const [LOAD, IF_EQUAL, IF_NOT_LESS, RETURN] = [0x20, 0x15, 0x35, 0x06]
  const [ALLOW, REFUSE, KILL] = [0x7fff0000, 0x00050001, 0x80000000] // 1: EPERM
  const [NUMBER, ARCHITECTURE] = [0, 4] // offsets in the data that the kernel passes to a filter
  const X86_64 = 0xc000003e
  const X32 = 0x40000000 // numbers from here on belong to the x32 interface
  // Each step has an operation, how many steps to skip if it holds and if not, and an operand.
  const program = [
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, X86_64],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [IF_NOT_LESS, REFUSED.length + 1, 0, X32],
    ...REFUSED.map((number, i) => [IF_EQUAL, REFUSED.length - i, 0, number]),
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, REFUSE], // the target of all other jumps
  ]
  return Number(prctl(PR_SET_SECCOMP, 2, filterOf(program), 0, 0)) === 0
}

/**
 * Returns the filter as the kernel takes it: its length, and the address of its steps of eight
 * bytes.
 */
function filterOf(program) {
  const steps = Buffer.alloc(8 * program.length)
  for (const [i, [code, ifTrue, ifFalse, value]] of program.entries()) {
    steps.writeUInt16LE(code, 8 * i)
    steps.writeUInt8(ifTrue, 8 * i + 2)
    steps.writeUInt8(ifFalse, 8 * i + 3)
    steps.writeUInt32LE(value, 8 * i + 4)
  }
  const filter = Buffer.alloc(16)
  filter.writeUInt16LE(program.length)
  filter.writeBigUInt64LE(koffi.address(steps), 8)
  filter.steps = steps // keeps the memory of the steps alive
  return filter
}

/** Replaces this program, whose descriptors Node has marked as not to be inherited. */
function become(parts) {
  const F_SETFD = 2
  const descriptors = [0, 1, 2, channel, memory].filter((each) => each !== undefined)
  for (const descriptor of descriptors) fcntl(descriptor, F_SETFD, 0)
  const environment = ['OPENSSL_CONF=/dev/null'] // Node ends if it can't read OpenSSL's own
  if (channel !== undefined) {
    environment.push(`NODE_CHANNEL_FD=${channel}`, 'NODE_CHANNEL_SERIALIZATION_MODE=advanced')
  }
  execve(parts[0], [...parts, null], [...environment, null])
  throw new Error(`${parts[0]} cannot be started`)
}
