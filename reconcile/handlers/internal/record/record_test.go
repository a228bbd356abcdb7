package record

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, domain, operator, want string }{
		{"handlers 19: one key for each operator", "example.dev", "cats", "example.dev/operkit-handled.cats"},
		{"handlers 19: a domain with one operator", "example.dev", "", "example.dev/operkit-handled"},
		{"handlers 19: a long name is cut", "example.dev", strings.Repeat("a", 60), "example.dev/operkit-handled." + strings.Repeat("a", 38) + "-9e8f2da3"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := Key(row.domain, row.operator)
			require.NoError(t, err)
			assert.Empty(t, validation.IsQualifiedName(got))
			if !strings.Contains(row.want, "-9e8f2da3") {
				assert.Equal(t, row.want, got)
				return
			}
			assert.Len(t, got, len(row.want))
			assert.Equal(t, row.want[:60], got[:60])
			other, err := Key(row.domain, row.operator+"b")
			require.NoError(t, err)
			assert.NotEqual(t, got, other)
		})
	}
	for _, bad := range [][2]string{{"", "cats"}, {"example.dev", "two cats"}, {"example.dev", "a/b"}, {"not a domain", ""}, {"example.dev", "größe"}} {
		_, err := Key(bad[0], bad[1])
		assert.ErrorContains(t, err, "no annotation can have such a name", "%v", bad)
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 300<<10)
	_, _ = rand.Read(noise)
	long := func(size int) map[string]any {
		return map[string]any{"spec": map[string]any{"text": strings.Repeat("x", size), "size": int64(3), "share": 0.5}}
	}
	cycle := progress.Cycle{"a": {Purpose: cause.Update, Seen: "x", Started: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Attempts: 2}}
	crons := map[string]time.Time{"nightly": time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)}
	for _, row := range []struct {
		reason  string
		essence map[string]any
		others  int
		packed  bool
		dropped bool
	}{
		{"handlers 20: a small one is readable", long(10), 0, false, false},
		{"handlers 20: a large one is compressed", long(100 << 10), 0, true, false},
		{"handlers 20: without room for the essence its digest is kept", map[string]any{"spec": base64.StdEncoding.EncodeToString(noise)}, 0, false, true},
		{"handlers 20: other annotations count", long(10), 200 << 10, false, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			digest, err := Digest(row.essence)
			require.NoError(t, err)
			r := Record{UID: "u", Digest: digest, Essence: row.essence, Cycle: cycle, Crons: crons}
			text, err := r.Text(row.others)
			require.NoError(t, err)
			assert.Equal(t, row.packed, strings.HasPrefix(text, gzipped))
			assert.Less(t, len(text), most)
			got, err := Of(text, "u")
			require.NoError(t, err)
			want := r
			if row.dropped {
				want.Essence = nil
			}
			assert.Equal(t, want, got)
			assert.True(t, got.Handled())
			other, err := Of(text, "v")
			require.NoError(t, err)
			assert.Equal(t, Record{}, other, "handlers 21: the record of another object counts as none")
		})
	}
	none, err := Of("", "u")
	require.NoError(t, err)
	assert.False(t, none.Handled())
	only := Record{UID: "u", Crons: crons}
	assert.False(t, only.Handled(), "handlers 49: the time of a cron doesn't mean that the object was handled")
	text, err := only.Text(0)
	require.NoError(t, err)
	assert.JSONEq(t, `{"uid":"u","crons":{"nightly":"2030-01-02T03:00:00Z"}}`, text)
}

func TestUnreadableRecords(t *testing.T) {
	t.Parallel()
	bomb, err := packed(bytes.Repeat([]byte(" "), longest+1))
	require.NoError(t, err)
	for reason, text := range map[string]string{
		"no JSON": "{", "a list": "[]", "no base64": gzipped + "!", "not compressed": gzipped + "aGVsbG8=", "cut": bomb[:len(bomb)/2], "too large": bomb,
	} {
		t.Run("handlers 21: "+reason, func(t *testing.T) {
			t.Parallel()
			_, err := Of(text, "u")
			assert.ErrorContains(t, err, "record of handlers: ")
		})
	}
}

// Equal essences have the same digest, whatever the types of their numbers.
func TestRenamed(t *testing.T) {
	t.Parallel()
	at := time.Unix(1, 0)
	begun := progress.Record{Attempts: 1}
	for _, row := range []struct {
		reason     string
		have, want Record
	}{
		{"handlers 38: the progress moves", Record{Cycle: progress.Cycle{"old": begun}}, Record{Cycle: progress.Cycle{"new": begun}}},
		{"handlers 92: the last call of a cron moves", Record{Crons: map[string]time.Time{"old": at, "other": at}}, Record{Crons: map[string]time.Time{"new": at, "other": at}}},
		{"handlers 92: a later call under the new id counts", Record{Crons: map[string]time.Time{"old": at, "new": at.Add(1)}}, Record{Crons: map[string]time.Time{"old": at, "new": at.Add(1)}}},
		{"handlers 92: nothing is known", Record{}, Record{}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			before := maps.Clone(row.have.Crons)
			assert.Equal(t, row.want, row.have.Renamed("old", "new"))
			assert.Equal(t, before, row.have.Crons, "the record isn't changed")
		})
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	of := func(value any) string {
		digest, err := Digest(map[string]any{"spec": map[string]any{"a": value, "b": "c"}})
		require.NoError(t, err)
		return digest
	}
	assert.Equal(t, of(int64(1)), of(1.0), "handlers 20: a whole float is a whole number")
	assert.NotEqual(t, of(int64(1)), of(int64(2)))
	assert.NotEqual(t, of(int64(1)), of(true))
	assert.Len(t, of(nil), 32)
}

func FuzzOf(f *testing.F) {
	f.Add(`{"uid":"u","digest":"x","essence":{"a":1},"cycle":{"a":{"due":"2030-01-01T00:00:00Z"}}}`)
	f.Add(gzipped + "H4sIAAAAAAAA/6pWKs1MUbJSKlWqBQQAAP//")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Of(text, "u")
		if err != nil {
			return
		}
		again, err := r.Text(0)
		require.NoError(t, err)
		back, err := Of(again, r.UID)
		require.NoError(t, err)
		if len(again) <= most && r.UID == types.UID("u") {
			require.Equal(t, r.Digest, back.Digest)
			require.Len(t, back.Cycle, len(r.Cycle))
		}
	})
}

func TestStore(t *testing.T) {
	t.Parallel()
	object := func(annotation, status any) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"example.dev/a": annotation, "example.dev/b": "other"}},
			"status":   map[string]any{"handled": status, "size": int64(1)},
		}
	}
	annotation, field := Store{Key: "example.dev/a"}, Store{Key: "example.dev/a", Field: "handled"}
	for _, row := range []struct {
		reason string
		store  Store
		object map[string]any
		want   string
	}{
		{"handlers 97: in the annotation", annotation, object("a", "s"), "a"},
		{"handlers 97: in the status", field, object("a", "s"), "s"},
		{"handlers 97: not yet in the status", field, object("a", nil), "a"},
		{"handlers 97: a field of another type", field, object(nil, int64(3)), ""},
		{"handlers 97: an object without both", field, map[string]any{}, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, row.store.Text(row.object))
		})
	}
	assert.Equal(t, "annotation example.dev/a", annotation.String())
	assert.Equal(t, "field status.handled", field.String())
	status := map[string]any{"size": int64(1)}
	assert.Equal(t, map[string]any{"size": int64(1), "handled": "x"}, field.Over(status, "x"))
	assert.Equal(t, map[string]any{"size": int64(1)}, status, "it isn't changed")
	assert.Equal(t, map[string]any{"handled": "x"}, field.Over(nil, "x"))
}
