package deploy

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"
)

// hashIntent is a hash of the structure of a plain object: equal structures have equal
// hashes in every process and release, whatever the order of map keys and whichever Go
// type an integer has.
func hashIntent(intent map[string]any) (string, error) {
	h := sha256.New()
	if err := writeValue(h, intent); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18]), nil
}

// hashString is a short label-safe digest of s.
func hashString(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:5])
}

// Each value is written as a tag and its length or content, so that no two structures
// share an encoding.
func writeValue(h hash.Hash, value any) error {
	switch v := value.(type) {
	case nil:
		write(h, 'n', 0)
	case bool:
		write(h, 'b', map[bool]uint64{true: 1}[v])
	case string:
		writeString(h, v)
	case int64:
		write(h, 'i', uint64(v))
	case int:
		write(h, 'i', uint64(v))
	case int32:
		write(h, 'i', uint64(v))
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			write(h, 'i', uint64(int64(v)))
		} else {
			write(h, 'f', math.Float64bits(v))
		}
	case []any:
		write(h, 'l', uint64(len(v)))
		for i, item := range v {
			if err := writeValue(h, item); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
	case map[string]any:
		write(h, 'm', uint64(len(v)))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			writeString(h, key)
			if err := writeValue(h, v[key]); err != nil {
				return fmt.Errorf(".%s%w", key, err)
			}
		}
	default:
		return fmt.Errorf(": %T is not a JSON value", value)
	}
	return nil
}

func write(h hash.Hash, tag byte, number uint64) {
	var buffer [9]byte
	buffer[0] = tag
	binary.BigEndian.PutUint64(buffer[1:], number)
	h.Write(buffer[:])
}

func writeString(h hash.Hash, s string) {
	write(h, 's', uint64(len(s)))
	h.Write([]byte(s))
}
