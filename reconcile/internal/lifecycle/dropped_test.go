package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A map is sent with the defaults that the schema adds to it, once these are known.
func TestDefaultedFields(t *testing.T) {
	t.Parallel()
	var d droppedFields
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	sent := map[string]any{"db": map[string]any{"host": "x", "deep": map[string]any{"a": "b"}}, "list": []any{map[string]any{}}}
	stored := map[string]any{
		"db": map[string]any{"host": "x", "port": int64(5432), "deep": map[string]any{"a": "b", "c": "d"}}, "top": "of others",
		"list": []any{map[string]any{"in": "a list"}},
	}
	original := (&unstructured.Unstructured{Object: sent}).DeepCopy().Object
	assert.Equal(t, sent, d.without(now, sent, stored), "it knows nothing yet")
	assert.Empty(t, d.record(now, sent, stored))
	assert.Equal(t, map[string]any{"db": stored["db"], "list": sent["list"]}, d.without(now, sent, stored), "fields 1: the defaults are sent, too")
	assert.Equal(t, original, sent, "what was sent isn't changed")
	other := map[string]any{"db": map[string]any{"host": "y", "port": int64(1), "deep": map[string]any{"a": "b"}}}
	want := map[string]any{"db": map[string]any{"host": "y", "port": int64(1), "deep": map[string]any{"a": "b", "c": "d"}}}
	assert.Equal(t, want, d.without(now, other, stored), "a value of one's own counts")
}

func TestDroppedFields(t *testing.T) {
	t.Parallel()
	var d droppedFields
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	sent := map[string]any{
		"a": "x", "null": nil, "list": []any{map[string]any{"name": "n", "reason": "r"}, "text"},
		"short": []any{"a", "b"}, "map": map[string]any{"in": "x", "out": "y"}, "other": map[string]any{"x": "y"},
	}
	stored := map[string]any{
		"list":  []any{map[string]any{"name": "n"}, "text"},
		"short": []any{"a"}, "map": map[string]any{"in": "x"}, "other": "text",
	}
	original := (&unstructured.Unstructured{Object: sent}).DeepCopy().Object
	assert.Equal(t, sent, d.without(now, sent, stored), "it knows nothing yet")
	assert.Equal(t, []string{".a", ".list[].reason", ".map.out"}, d.record(now, sent, stored))
	assert.Empty(t, d.record(now, sent, stored), "that is known")
	assert.Equal(t, map[string]any{
		"null": nil, "list": []any{map[string]any{"name": "n"}, "text"},
		"short": []any{"a", "b"}, "map": map[string]any{"in": "x"}, "other": map[string]any{"x": "y"},
	}, d.without(now.Add(SentAgain-1), sent, stored))
	assert.Equal(t, original, sent, "what was sent isn't changed")

	assert.Equal(t, sent, d.without(now.Add(SentAgain), sent, stored), "once in a while all is sent")
	assert.Empty(t, d.record(now.Add(SentAgain), sent, stored), "that it is dropped yet is no news")
	assert.NotContains(t, d.without(now.Add(SentAgain), sent, stored), "a")

	mended := map[string]any{"list": []any{map[string]any{"reason": "r"}}, "map": map[string]any{"out": "y"}}
	assert.Equal(t, map[string]any{
		"null": nil, "list": sent["list"], "short": sent["short"], "map": sent["map"], "other": sent["other"],
	}, d.without(now.Add(SentAgain), sent, mended), "what is stored isn't dropped")
	assert.Equal(t, []string{".list[].reason", ".map.out"}, d.record(now, sent, stored), "once it is again, that is news")
}
