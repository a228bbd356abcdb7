package kopf

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Keys are read, so they are kopf's own. Those that aren't valid are on no object.
func TestVectors(t *testing.T) {
	vectortest.Run(t, "kopf-key", func(t *testing.T, c *vectortest.Case) {
		id, domain := c.Input["id"].(string), c.Input["prefix"].(string)
		suffixed, _ := c.Input["replicaset_of_deployment"].(bool)
		keys := Keys(domain, id, suffixed)
		want := c.Output.(map[string]any)
		if c.Doubtful {
			assert.Equal(t, "key-must-be-valid", c.Rule)
			c.Deviates("handlers 6: no record has a key of its own")
			return
		}
		assert.Equal(t, want["v2"], keys[0])
		assert.Equal(t, want["v1"], keys[len(keys)-1])
		assert.Equal(t, want["valid"], len(validation.IsQualifiedName(strings.ToLower(domain+"/"+strings.SplitN(keys[0], "/", 2)[1]))) == 0)
	})
}

// FuzzKeys forms keys of any id: there is one or there are two, and both are in the domain.
func FuzzKeys(f *testing.F) {
	f.Add("kopf.zalando.org", "create_fn/spec.field", true)
	f.Add(strings.Repeat("x", 300), strings.Repeat("é/", 80), false)
	f.Fuzz(func(t *testing.T, domain, id string, suffixed bool) {
		for _, key := range Keys(domain, id, suffixed) {
			assert.True(t, strings.HasPrefix(key, domain+"/"))
		}
	})
}

func TestEssence(t *testing.T) {
	t.Parallel()
	object := func(annotations map[string]any) map[string]any {
		return map[string]any{"kind": "Cat", "metadata": map[string]any{"annotations": annotations}, "status": map[string]any{
			"cats": map[string]any{"last-handled-configuration": `{"spec":{"a":2}}`},
		}}
	}
	one := map[string]any{"spec": map[string]any{"a": int64(1)}}
	long := "a-rather-long-operator-name.and-its-domain.example.org"
	for _, row := range []struct {
		reason, domain string
		annotations    map[string]any
		want           map[string]any
	}{
		{"handlers 6: kopf's own domain", Domain, map[string]any{Domain + "/last-handled-configuration": "{\"spec\":{\"a\":1}}\n"}, one},
		{"handlers 6: the older form of a key", long, map[string]any{long + "/l-a.A3qw": `{"spec":{"a":1}}`}, one},
		{"handlers 6: another operator's", "cats.dev", map[string]any{Domain + "/last-handled-configuration": `{}`}, nil},
		{"handlers 6: no JSON", Domain, map[string]any{Domain + "/last-handled-configuration": `{`}, nil},
		{"handlers 6: a null", Domain, map[string]any{Domain + "/last-handled-configuration": `null`}, nil},
		{"handlers 6: none", Domain, nil, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, ok := Essence(object(row.annotations), row.domain)
			assert.Equal(t, row.want != nil, ok)
			assert.True(t, !ok || diff.Equal(any(row.want), any(got)))
		})
	}
	got, ok := EssenceInStatus(object(nil), "cats")
	assert.True(t, ok)
	assert.Equal(t, map[string]any{"spec": map[string]any{"a": int64(2)}}, got)
	_, ok = EssenceInStatus(object(nil), "dogs")
	assert.False(t, ok)
}
