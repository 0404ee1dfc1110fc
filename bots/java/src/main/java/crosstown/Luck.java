package crosstown;

/** Luck that is the same in every language's starter, so that a match can be played again. */
public final class Luck {
  private Luck() {}

  /**
   * A number from 0 to count-1, each as likely, that depends on nothing but its arguments.
   *
   * <p>splitmix64 from the state mix(botSeed + decision); numbers below 2^64 mod count are drawn
   * again, so that the remainder of the first one kept favours none. All sums and products are
   * modulo 2^64, all numbers unsigned. {@code count} must not be 0.
   */
  public static int fairIndex(long botSeed, int decision, int count) {
    long wide = Integer.toUnsignedLong(count);
    long unfair = Long.remainderUnsigned(-wide, wide); // 2^64 mod count
    long state = mix(botSeed + Integer.toUnsignedLong(decision));
    while (true) {
      state += 0x9E3779B97F4A7C15L;
      long value = mix(state);
      if (Long.compareUnsigned(value, unfair) >= 0) {
        return (int) Long.remainderUnsigned(value, wide);
      }
    }
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
