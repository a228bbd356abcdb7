package deploy

import (
	"hash/maphash"
	"math"
	"math/bits"
)

var fingerprintSeed = maphash.MakeSeed()

// Fingerprint is a number for the content of an object: equal ones have the same within this process, others practically never, and in another
// process it is another one. ok is false for what can't be sent to a cluster.
func Fingerprint(content map[string]any) (number uint64, ok bool) {
	return fingerprint(content, manifestDepth)
}

// fingerprint is a number for a plain value: equal ones have the same within this process, others
// practically never. It allocates nothing, which hashing for other processes can't do. ok is false for
// what isn't a JSON value, and for what is nested so deeply that it may contain itself.
func fingerprint(value any, depth int) (sum uint64, ok bool) {
	switch v := value.(type) {
	case nil:
		return 1, true
	case bool:
		if v {
			return 2, true
		}
		return 3, true
	case string:
		return maphash.String(fingerprintSeed, v), true
	case int64:
		return mix(uint64(v), 5), true
	case int:
		return mix(uint64(v), 5), true
	case int32:
		return mix(uint64(v), 5), true
	case float64:
		return mix(math.Float64bits(v), 7), true
	case []any:
		return fingerprintList(v, depth-1)
	case map[string]any:
		return fingerprintMap(v, depth-1)
	}
	return 0, false
}

func fingerprintList(list []any, depth int) (sum uint64, ok bool) {
	if depth < 0 {
		return 0, false
	}
	sum = uint64(len(list))
	for _, item := range list {
		below, ok := fingerprint(item, depth)
		if !ok {
			return 0, false
		}
		sum = mix(sum, below)
	}
	return mix(sum, 11), true
}

// fingerprintMap adds its entries up, so that their order doesn't matter.
func fingerprintMap(fields map[string]any, depth int) (sum uint64, ok bool) {
	if depth < 0 {
		return 0, false
	}
	for key, value := range fields {
		below, ok := fingerprint(value, depth)
		if !ok {
			return 0, false
		}
		sum += mix(maphash.String(fingerprintSeed, key), below)
	}
	return mix(sum, uint64(len(fields))+13), true
}

// mix makes one number of two, of which each bit depends on all of theirs and on their order.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	return (high ^ low) + bits.RotateLeft64(a, 23)
}
