package typed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkDecode(b *testing.B) {
	full := claimed(object{"spec": object{"size": int64(3), "mode": "fast", "ports": []any{object{"name": "web", "number": int64(80)}}}, "status": object{"volume": "v"}})
	b.ReportAllocs()
	for b.Loop() {
		_, err := Decode[claim](full)
		require.NoError(b, err)
	}
}

func BenchmarkEncode(b *testing.B) {
	full := claimed(object{"spec": object{"size": int64(3), "mode": "fast", "ports": []any{object{"name": "web", "number": int64(80)}}}, "status": object{"volume": "v"}})
	before, err := Decode[claim](full)
	require.NoError(b, err)
	after := *before
	after.Status.Volume = "w"
	b.ReportAllocs()
	for b.Loop() {
		_, err := Encode(before, &after)
		require.NoError(b, err)
	}
}
