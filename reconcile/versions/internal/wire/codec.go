package wire

import (
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// Raw is a value that is still to be decoded.
type Raw = cbor.RawMessage

// deepest is how deep values may be nested: objects of Kubernetes are far flatter, and schemas of CustomResourceDefinitions the deepest.
const deepest = 1024

var (
	encoder = must(cbor.EncOptions{TextMarshaler: cbor.TextMarshalerNone}.EncMode())
	decoder = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IntDec: cbor.IntDecConvertSigned, DefaultMapType: reflect.TypeFor[map[string]any](),
		MaxNestedLevels: deepest, MaxArrayElements: longest / 8, MaxMapPairs: longest / 8, IndefLength: cbor.IndefLengthForbidden,
		UTF8: cbor.UTF8DecodeInvalid,
	}.DecMode())
)

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) // the options above are wrong: no test passes
	}
	return mode
}

// Encode writes a value. Whole numbers are int64, all others float64, as in unstructured objects.
func Encode(value any) (Raw, error) { return encoder.Marshal(value) }

// Decode reads a value into target, a pointer.
func Decode(raw Raw, target any) error {
	if len(raw) == 0 {
		return fmt.Errorf("a %T is missing", target)
	}
	return decoder.Unmarshal(raw, target)
}
