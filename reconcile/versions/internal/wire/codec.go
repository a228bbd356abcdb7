package wire

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// Raw is a value that is still to be decoded.
type Raw = cbor.RawMessage

const (
	// deepest is how deep values may be nested: objects of Kubernetes are far flatter, and schemas of CustomResourceDefinitions the deepest.
	deepest = 1024
	// widest is how many entries one list or map may have.
	widest = longest / 8
)

var (
	encoder = must(cbor.EncOptions{TextMarshaler: cbor.TextMarshalerNone}.UserBufferEncMode())
	decoder = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IntDec: cbor.IntDecConvertSigned, DefaultMapType: reflect.TypeFor[map[string]any](),
		MaxNestedLevels: deepest, MaxArrayElements: widest, MaxMapPairs: widest, IndefLength: cbor.IndefLengthForbidden,
		UTF8: cbor.UTF8DecodeInvalid,
	}.DecMode())
)

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) // the options above are wrong: no test passes
	}
	return mode
}

// encode appends a value. Whole numbers are int64, all others float64, as in unstructured objects.
func encode(value any, to *bytes.Buffer) error { return encoder.MarshalToBuffer(value, to) }

// Decode reads a value into target, a pointer, which shares nothing with raw.
func Decode(raw Raw, target any) error {
	if len(raw) == 0 {
		return fmt.Errorf("a %T is missing", target)
	}
	return decoder.Unmarshal(raw, target)
}
