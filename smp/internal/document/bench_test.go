package document_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

func BenchmarkDecode(b *testing.B) {
	text, err := document.Append(nil, deployment())
	require.NoError(b, err)
	b.Run("document", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := document.Decode(text, 100); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var value any
			if err := json.Unmarshal(text, &value); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	value := deployment()
	b.Run("document", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := document.Append(make([]byte, 0, 25000), value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(value); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkClone(b *testing.B) {
	value := deployment()
	b.Run("document", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := document.Clone(value, 100); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plain recursion", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			deepCopy(value)
		}
	})
}

func BenchmarkEqual(b *testing.B) {
	x, y := deployment(), deployment()
	b.ReportAllocs()
	for b.Loop() {
		if !document.Equal(x, y) {
			b.Fatal("not equal")
		}
	}
}

// deepCopy is what k8s.io/apimachinery's runtime.DeepCopyJSONValue does.
func deepCopy(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		clone := make(map[string]any, len(v))
		for key, value := range v {
			clone[key] = deepCopy(value)
		}
		return clone
	case []any:
		clone := make([]any, len(v))
		for i, value := range v {
			clone[i] = deepCopy(value)
		}
		return clone
	default:
		return value
	}
}
