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
	// deepest is how deep values may be nested: objects of Kubernetes are far flatter, and schemas of
	// CustomResourceDefinitions the deepest.
	deepest = 1024
	// widest is how many entries one list or map may have.
	widest = longest / 8
)

var (
	encoder = must(cbor.EncOptions{TextMarshaler: cbor.TextMarshalerNone}.UserBufferEncMode())
	decoder = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IntDec: cbor.IntDecConvertSignedOrFail, DefaultMapType: reflect.TypeFor[map[string]any](),
		DefaultByteStringType: reflect.TypeFor[string](), TagsMd: cbor.TagsForbidden, SimpleValues: must(cbor.NewSimpleValueRegistryFromDefaults(otherSimpleValues()...)),
		MaxNestedLevels: deepest, MaxArrayElements: widest, MaxMapPairs: widest, IndefLength: cbor.IndefLengthForbidden,
		UTF8: cbor.UTF8DecodeInvalid,
	}.DecMode())
)

// otherSimpleValues refuses all simple values but false, true, null and undefined: no object holds any.
func otherSimpleValues() (refused []func(*cbor.SimpleValueRegistry) error) {
	for value := range 256 {
		if value < 20 || value > 31 {
			refused = append(refused, cbor.WithRejectedSimpleValue(cbor.SimpleValue(value)))
		}
	}
	return refused
}

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) //nolint:forbidigo // the options above are wrong: no test passes
	}
	return mode
}

// encode appends a value. Whole numbers are int64, all others float64, as in unstructured objects.
func encode(value any, to *bytes.Buffer) error { return encoder.MarshalToBuffer(value, to) }

// null is no value.
const null = 0xf6

// Decode reads a value into target, a pointer, which shares nothing with raw. No value is an error where it should be a
// structure.
func Decode(raw Raw, target any) error {
	if len(raw) == 0 || len(raw) == 1 && raw[0] == null && reflect.TypeOf(target).Elem().Kind() == reflect.Struct {
		return fmt.Errorf("a %T is missing", target)
	}
	return decoder.Unmarshal(raw, target)
}

// Answer decodes the body of a call and returns what handle does for it.
func Answer[In, Out any](body Raw, handle func(In) (Out, error)) (any, error) {
	var in In
	if err := Decode(body, &in); err != nil {
		return nil, err
	}
	return handle(in)
}
