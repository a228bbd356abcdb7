package lifecycle

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func FuzzShortened(f *testing.F) {
	f.Add("message", "reason", 1)
	f.Add(strings.Repeat("é", 3000), shortenedMark, 3)
	f.Fuzz(func(t *testing.T, message, reason string, step int) {
		if step < 0 || step > len(shortenings) {
			return
		}
		whole := map[string]any{
			"conditions":      []any{map[string]any{"type": "Ready", "message": message}, map[string]any{"type": "Theirs", "message": message}, nil},
			"componentStatus": map[string]any{"unstartedComponents": []any{map[string]any{"name": "a", "reason": reason}}, "kinds": []any{"v1/ConfigMap"}, "deployed": "0/1"},
		}
		before := (&unstructured.Unstructured{Object: whole}).DeepCopy().Object
		out := Shortened(whole, nil, step)
		assert.Equal(t, before, whole, "what is given isn't changed")
		assert.Equal(t, message, out["conditions"].([]any)[1].(map[string]any)["message"], "conditions of others aren't touched")
		if step == 0 {
			assert.Equal(t, whole, out)
			return
		}
		assert.True(t, isShortened(out))
		assert.Equal(t, out, shortenings[step-1].of(out), "shortening again changes nothing")
		assert.Equal(t, out, Shortened(whole, out, 0), "and a status that was shortened stays so")
		if utf8.ValidString(message) {
			assert.True(t, utf8.ValidString(out["conditions"].([]any)[0].(map[string]any)["message"].(string)))
		}
	})
}
