package deploy

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// hashIntent returns a hash of a plain object. Equal objects have equal hashes in every process and release, whatever
// the order of map keys and the Go types of integers.
func hashIntent(intent map[string]any) (string, error) {
	e, _ := encodings.Get().(*encoding)
	defer encodings.Put(e)
	e.text = e.text[:0]
	if err := e.value(intent); err != nil {
		return "", err
	}
	sum := sha256.Sum256(e.text)
	return base64.RawURLEncoding.EncodeToString(sum[:18]), nil
}

// hashString returns a short digest of s that is valid in labels.
func hashString(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:5])
}

// encoding writes the text that is hashed.
type encoding struct {
	text []byte
	// keys is a buffer for the keys of the maps that are being written.
	keys []string
}

var encodings = sync.Pool{New: func() any { return &encoding{} }}

// value writes a value as a tag and the length or content of the value, so that different values have different
// encodings.
func (e *encoding) value(value any) error {
	switch v := number(value).(type) {
	case nil:
		e.number('n', 0)
	case bool:
		e.number('b', map[bool]uint64{true: 1}[v])
	case string:
		e.string(v)
	case int64:
		e.number('i', uint64(v))
	case float64:
		e.number('f', math.Float64bits(v))
	case []any:
		e.number('l', uint64(len(v)))
		for i, item := range v {
			if err := e.value(item); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
	case map[string]any:
		return e.fields(v)
	default:
		return fmt.Errorf(": %T is not a JSON value", value)
	}
	return nil
}

// fields writes a map by ascending keys.
func (e *encoding) fields(fields map[string]any) error {
	e.number('m', uint64(len(fields)))
	first := len(e.keys)
	defer func() {
		clear(e.keys[first:])
		e.keys = e.keys[:first]
	}()
	for key := range fields {
		e.keys = append(e.keys, key)
	}
	slices.Sort(e.keys[first:])
	for i := range len(fields) {
		key := e.keys[first+i]
		e.string(key)
		if err := e.value(fields[key]); err != nil {
			return fmt.Errorf(".%s%w", key, err)
		}
	}
	return nil
}

func (e *encoding) number(tag byte, number uint64) {
	e.text = binary.BigEndian.AppendUint64(append(e.text, tag), number)
}

func (e *encoding) string(text string) {
	e.number('s', uint64(len(text)))
	e.text = append(e.text, text...)
}

var fingerprintSeed = maphash.MakeSeed()

// Fingerprint returns a number for the content of an object. Within one process, equal contents have equal numbers, and
// different contents have different numbers with near certainty. Another process computes other numbers. ok is false
// for content that can't be sent to a cluster.
func Fingerprint(content map[string]any) (number uint64, ok bool) {
	return fingerprint(content, manifestDepth)
}

// fingerprint is like Fingerprint, for any JSON value. It allocates nothing, unlike hashIntent. ok is false for a value
// that isn't JSON, or that is nested deeper than depth: such a value may contain itself.
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

// fingerprintMap sums up the numbers of the entries, so that their order doesn't matter.
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

// mix combines two numbers. Each bit of the result depends on all bits of both numbers and on their order.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	return (high ^ low) + bits.RotateLeft64(a, 23)
}
