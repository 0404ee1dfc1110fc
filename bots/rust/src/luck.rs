//! Luck that is the same in every language's starter, so that a match can be played again.

/// A number from 0 to `count - 1`, each as likely, that depends on nothing but the arguments.
///
/// splitmix64 from the state `mix(bot_seed + decision)`; numbers below 2^64 mod count are drawn again, so that the
/// remainder of the first one kept favours none. All sums and products are modulo 2^64.
///
/// # Panics
/// If `count` is 0.
#[must_use]
pub fn fair_index(bot_seed: u64, decision: u32, count: u32) -> u32 {
    let count = u64::from(count);
    let unfair = count.wrapping_neg() % count; // 2^64 mod count
    let mut state = mix(bot_seed.wrapping_add(u64::from(decision)));
    loop {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let value = mix(state);
        if value >= unfair {
            return u32::try_from(value % count).expect("below a u32");
        }
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
