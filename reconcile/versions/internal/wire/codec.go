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
	// deepest bounds the nesting of values. The deepest objects of Kubernetes are CustomResourceDefinitions with their
	// schemas, which stay far below this bound.
	deepest = 1024
	// widest bounds the entries of one list or map.
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

// otherSimpleValues refuses all simple values except false, true, null and undefined: objects contain no other simple
// values.
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
		panic(err) //nolint:forbidigo // a mistake in the options above, which every test finds
	}
	return mode
}

// encode appends the encoding of value to a buffer. Integers are int64 and other numbers float64, as in objects.
func encode(value any, to *bytes.Buffer) error { return encoder.MarshalToBuffer(value, to) }

// null is the encoding of null.
const null = 0xf6

// Decode decodes raw into target, a pointer. target shares nothing with raw. An empty raw is an error, and so is null
// if target points to a struct.
func Decode(raw Raw, target any) error {
	if len(raw) == 0 || len(raw) == 1 && raw[0] == null && reflect.TypeOf(target).Elem().Kind() == reflect.Struct {
		return fmt.Errorf("a %T is missing", target)
	}
	return decoder.Unmarshal(raw, target)
}

// Answer decodes the body of a call and returns the result of handle.
func Answer[In, Out any](body Raw, handle func(In) (Out, error)) (any, error) {
	var in In
	if err := Decode(body, &in); err != nil {
		return nil, err
	}
	return handle(in)
}
