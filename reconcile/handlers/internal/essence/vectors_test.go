package essence

import (
	"cmp"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/kopf"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestVectors builds the essences that kopf builds. kopf's stores are described by Rules: its keys in annotations, and
// its fields in the status.
func TestVectors(t *testing.T) {
	vectortest.Run(t, "kopf-essence", func(t *testing.T, c *vectortest.Case) {
		body, _ := c.Input["body"].(map[string]any)
		before := runtime.DeepCopyJSON(body)
		rules := rulesOf(c.Input)
		if strings.HasPrefix(c.Name, "roundtrip/") {
			roundtrip(t, c, rules)
			return
		}
		var want any
		switch c.Rule {
		case "extra-whole-metadata":
			c.Deviates("handlers 4: no fields of the API server")
			want = map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{"a": "b"}, "finalizers": []any{"example.com/f"}, "name": "a1", "namespace": "ns"},
				"spec":     map[string]any{"a": int64(1)},
			}
		case "extra-through-non-map-is-absent", "progress-through-non-map-is-absent", "null-map-is-absent":
			c.Deviates("handlers 4: a path that leads through no map names no field")
			want = map[string]any{"spec": body["spec"]}
			status, _ := body["status"].(map[string]any)
			if kopf, ok := status["kopf"]; ok {
				want.(map[string]any)["status"] = map[string]any{"kopf": kopf}
			}
		default:
			want = c.Want(t)
		}
		got := rules.Of(body)
		assert.True(t, diff.Equal(want, any(got)), "want %v, got %v", want, got)
		assert.Equal(t, before, body, "the object isn't changed")
		assert.True(t, diff.Equal(any(got), any(rules.Clean(got))), "cleaning twice changes nothing")
	})
}

// roundtrip reads what kopf has stored. Nothing is written in its form.
func roundtrip(t *testing.T, c *vectortest.Case, rules Rules) {
	t.Helper()
	body := c.Input["body"].(map[string]any)
	output := c.Output.(map[string]any)
	assert.True(t, diff.Equal(output["fetched"], any(rules.Of(body))), "what is stored is the essence")
	storage, _ := c.Input["storage"].(map[string]any)
	read := func(object map[string]any) any {
		var found map[string]any
		if storage["kind"] == "status" {
			name, _ := storage["name"].(string)
			found, _ = kopf.EssenceInStatus(object, cmp.Or(name, "kopf"))
		} else {
			domain, _ := storage["prefix"].(string)
			found, _ = kopf.Essence(object, cmp.Or(domain, kopf.Domain))
		}
		if found == nil {
			return nil
		}
		return found
	}
	assert.True(t, diff.Equal(output["before"], read(body)), "what was stored before")
	stored := runtime.DeepCopyJSON(body)
	if annotations, ok := output["annotations"].(map[string]any); ok {
		stored["metadata"].(map[string]any)["annotations"] = annotations
	}
	if status, ok := output["status"].(map[string]any); ok {
		stored["status"] = status
	}
	assert.True(t, diff.Equal(output["fetched"], read(stored)), "what kopf has stored")
}

func rulesOf(input map[string]any) (r Rules) {
	for _, path := range list(input["extra"]) {
		r.Extra = append(r.Extra, texts(path))
	}
	storage, _ := input["storage"].(map[string]any)
	for _, path := range list(storage["ignored"]) {
		r.Ignored = append(r.Ignored, texts(path))
	}
	text := func(key, usual string) string {
		if value, ok := storage[key].(string); ok {
			return value
		}
		return usual
	}
	r.Domains = []string{"kopf.zalando.org"} // of the progress
	if progress, ok := input["progress"].(map[string]any); ok {
		r.Domains = []string{progress["prefix"].(string)}
	}
	r.Ignored = append(r.Ignored, []string{"status", "kopf", "progress"})
	if text("kind", "annotations") == "status" {
		r.Ignored = append(r.Ignored, []string{"status", text("name", "kopf"), "last-handled-configuration"})
		return r
	}
	key := text("prefix", "kopf.zalando.org") + "/" + text("key", "last-handled-configuration")
	body, _ := input["body"].(map[string]any)
	if body["kind"] == "ReplicaSet" {
		key += "-ofDRS"
	}
	r.Keys = []string{key}
	return r
}

func list(value any) []any {
	all, _ := value.([]any)
	return all
}

func texts(path any) (all []string) {
	for _, key := range list(path) {
		all = append(all, key.(string))
	}
	return all
}
