package crosstown

// FairIndex is a number from 0 to count-1, each as likely, that depends on nothing but its arguments, and is the same
// in every language's starter.
//
// splitmix64 from the state mix(botSeed + decision); numbers below 2^64 mod count are drawn again, so that the
// remainder of the first one kept favours none. All sums and products are modulo 2^64. count must not be 0.
func FairIndex(botSeed uint64, decision, count uint32) uint32 {
	wide := uint64(count)
	unfair := -wide % wide // 2^64 mod count
	state := mix(botSeed + uint64(decision))
	for {
		state += 0x9E3779B97F4A7C15
		if value := mix(state); value >= unfair {
			return uint32(value % wide)
		}
	}
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
