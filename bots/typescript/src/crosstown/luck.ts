const wrap = (number: bigint): bigint => BigInt.asUintN(64, number);

function mix(z: bigint): bigint {
  z = wrap((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = wrap((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

/**
 * A number from 0 to count-1, each as likely, that depends on nothing but its arguments, and is the same in every
 * language's starter, so that a match can be played again.
 *
 * splitmix64 from the state mix(botSeed + decision); numbers below 2^64 mod count are drawn again, so that the
 * remainder of the first one kept favours none. All sums and products are modulo 2^64. `count` must not be 0.
 */
export function fairIndex(botSeed: bigint, decision: number, count: number): number {
  const wide = BigInt(count);
  const unfair = (1n << 64n) % wide;
  let state = mix(wrap(botSeed + BigInt(decision)));
  for (;;) {
    state = wrap(state + 0x9e3779b97f4a7c15n);
    const value = mix(state);
    if (value >= unfair) return Number(value % wide);
  }
}
