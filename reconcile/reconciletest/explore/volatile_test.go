package explore

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMask(t *testing.T) {
	shown := func(before state, key, copied, title string) string {
		s := map[string]string{"Secret test/key": "{kind: Secret, metadata: {name: key, namespace: test, annotations: {operkit.dev/applied-x: '%[1]s'}}, data: {key: %[1]s}}",
			"ConfigMap test/door": "{kind: ConfigMap, metadata: {name: door, namespace: test}, data: {list: [a, %[2]s], title: %[3]s}}"}
		var objects []*unstructured.Unstructured
		for _, text := range s {
			objects = append(objects, parsed(t, fmt.Sprintf(text+"# %[1]s %[2]s %[3]s", key, copied, title)))
		}
		if before == nil {
			before = state{}
		}
		volatile := map[string]bool{"Secret test/key .data.key": true, "ConfigMap test/door .data.list[1]": true}
		return fingerprint(objects, mask{volatile: volatile, before: before})
	}
	before := state{"Secret test/key": {"data": map[string]any{"key": "abc"}}, "ConfigMap test/door": {"data": map[string]any{"list": []any{"a", "abc"}}}}
	for _, row := range []struct {
		reason     string
		one, other string
		same       bool
	}{
		{"another random value", shown(nil, "abc", "abc", "x"), shown(nil, "def", "def", "x"), true},
		{"one value in two fields isn't two values", shown(nil, "abc", "abc", "x"), shown(nil, "abc", "def", "x"), false},
		{"two values in both", shown(nil, "abc", "def", "x"), shown(nil, "ghi", "jkl", "x"), true},
		{"another field differs", shown(nil, "abc", "abc", "x"), shown(nil, "abc", "abc", "y"), false},
		{"both are kept, or both are new", shown(before, "abc", "abc", "x"), shown(before, "def", "def", "x"), false},
		{"a hash of the old value beside a new one", shown(before, "def", "abc", "x"), shown(before, "def", "ghi", "x"), false},
	} {
		t.Run("explore 16: random values: "+row.reason, func(t *testing.T) { assert.Equal(t, row.same, row.one == row.other) })
	}
}

// locking makes a long key, and remembers it in a Secret.
func locking(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	key, err := m.get(ctx, "Secret", "key", resource)
	if err == nil && key == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {key: %s}}", rand.Text()+rand.Text())
	}
	if err != nil {
		return err
	}
	return careful(ctx, m, resource)
}

func TestRandomValues(t *testing.T) {
	e, lives := explorerFor(t, locking)
	known, err := e.learn(lives[0])
	require.NoError(t, err)
	require.NotEmpty(t, known.volatile)
	var equal, others []string
	for _, c := range e.possible(known.trace, 0) {
		if !c.act.kills() || c.chapter > 1 {
			continue
		}
		if tr := e.follow(known, []armed{c.arm(known.chapters[c.chapter-1])}, true); tr.equal {
			equal = append(equal, c.String())
		} else {
			others = append(others, c.String())
		}
	}
	t.Run("explore 16: a state with another random value isn't followed again", func(t *testing.T) {
		assert.Contains(t, equal, "kill-before@1.5", "the key is there, as when it was killed after 1.3: %s", others)
		assert.NotContains(t, equal, "kill-after@1.3")
	})
}
