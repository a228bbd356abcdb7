package deploy

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sync"
)

// hashIntent is a hash of the structure of a plain object: equal structures have equal
// hashes in every process and release, whatever the order of map keys and whichever Go
// type an integer has.
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

// hashString is a short label-safe digest of s.
func hashString(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:5])
}

// encoding is the text of a value that is hashed.
type encoding struct {
	text []byte
	// keys are room for those of the maps that are being written.
	keys []string
}

var encodings = sync.Pool{New: func() any { return &encoding{} }}

// value writes a value as a tag and its length or content, so that no two structures share an encoding.
func (e *encoding) value(value any) error {
	switch v := value.(type) {
	case nil:
		e.number('n', 0)
	case bool:
		e.number('b', map[bool]uint64{true: 1}[v])
	case string:
		e.string(v)
	case int64:
		e.number('i', uint64(v))
	case int:
		e.number('i', uint64(v))
	case int32:
		e.number('i', uint64(v))
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			e.number('i', uint64(int64(v)))
		} else {
			e.number('f', math.Float64bits(v))
		}
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
