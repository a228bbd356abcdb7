package essence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

func object(t testing.TB, text string) (m map[string]any) {
	t.Helper()
	assert.NoError(t, json.Unmarshal([]byte(text), &m))
	return m
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, object, want string
		rules                Rules
	}{
		{"handlers 2: everything but metadata and status", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"b"},"type":"x","status":{"c":1}}`, `{"data":{"a":"b"},"type":"x"}`, Rules{}},
		{"handlers 2: labels and annotations", `{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"},"generation":3}}`, `{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}}}`, Rules{}},
		{"handlers 3: marks of another operator of this kind", `{"metadata":{"annotations":{"other.dev/operkit-handled.backup":"x","other.dev/operkit-handled":"x","other.dev/mine":"d"}}}`, `{"metadata":{"annotations":{"other.dev/mine":"d"}}}`, Rules{}},
		{"handlers 3: a name that only begins like a mark", `{"metadata":{"annotations":{"other.dev/operkit-handledness":"x"}}}`, `{"metadata":{"annotations":{"other.dev/operkit-handledness":"x"}}}`, Rules{}},
		{"handlers 3: marks of kopf's operators, by their marker", `{"metadata":{"annotations":{"cats.dev/kopf-managed":"yes","cats.dev/create_fn":"{}","dogs.dev/x":"y"}}}`, `{"metadata":{"annotations":{"dogs.dev/x":"y"}}}`, Rules{}},
		{"handlers 3: annotations of the operator's own domain", `{"metadata":{"annotations":{"operkit.dev/pause-execution":"true","x":"y"}}}`, `{"metadata":{"annotations":{"x":"y"}}}`, Rules{Domains: []string{"operkit.dev"}}},
		{"handlers 3: what kubectl apply keeps", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`, `{}`, Rules{}},
		{"handlers 4: a field of the status that a handler names", `{"status":{"a":{"b":1,"c":2},"d":3}}`, `{"status":{"a":{"b":1}}}`, Rules{Extra: [][]string{{"status", "a", "b"}}}},
		{"handlers 4: two fields side by side", `{"status":{"a":{"b":1,"c":2},"d":3}}`, `{"status":{"a":{"b":1},"d":3}}`, Rules{Extra: [][]string{{"status", "a", "b"}, {"status", "d"}}}},
		{"handlers 4: a field and the one around it", `{"status":{"a":{"b":1,"c":2}}}`, `{"status":{"a":{"b":1,"c":2}}}`, Rules{Extra: [][]string{{"status", "a"}, {"status", "a", "b"}}}},
		{"handlers 4: the other way round", `{"status":{"a":{"b":1,"c":2}}}`, `{"status":{"a":{"b":1,"c":2}}}`, Rules{Extra: [][]string{{"status", "a", "b"}, {"status", "a"}}}},
		{"handlers 4: a path through a text names nothing", `{"spec":{"a":"x"},"status":"text"}`, `{"spec":{"a":"x"}}`, Rules{Extra: [][]string{{"status", "a"}, {"spec", "a", "b"}, {"metadata", "finalizers"}}}},
		{"handlers 4: metadata as a whole, without the server's own fields", `{"metadata":{"name":"n","uid":"u","resourceVersion":"1","labels":{"a":"b"},"annotations":{"o.dev/operkit-handled":"x"}}}`, `{"metadata":{"name":"n","labels":{"a":"b"}}}`, Rules{Extra: [][]string{{"metadata"}}}},
		{"handlers 4: a field that only the server writes", `{"metadata":{"resourceVersion":"1"}}`, `{}`, Rules{Extra: [][]string{{"metadata", "resourceVersion"}}}},
		{"handlers 5: ignored fields, and what is empty then", `{"spec":{"a":{"b":1},"c":{}}}`, `{"spec":{"c":{}}}`, Rules{Ignored: [][]string{{"spec", "a", "b"}, {"spec", "z"}}}},
		{"handlers 5: the whole spec", `{"spec":{"a":1}}`, `{}`, Rules{Ignored: [][]string{{"spec", "a"}}}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			given := object(t, row.object)
			before := runtime.DeepCopyJSON(given)
			got := row.rules.Of(given)
			assert.Equal(t, object(t, row.want), got)
			assert.Equal(t, before, given, "the object isn't changed")
			assert.Equal(t, got, row.rules.Clean(got))
		})
	}
}

func TestExcludes(t *testing.T) {
	t.Parallel()
	rules := Rules{Ignored: [][]string{{"spec", "a"}}, Domains: []string{"operkit.dev"}}
	for _, row := range []struct {
		reason, path, want string
	}{
		{"handlers 91: a field of the user", "spec.b", ""},
		{"handlers 91: no field", "", ""},
		{"handlers 91: a field around an ignored one", "spec", ""},
		{"handlers 91: an ignored field", "spec.a", "it is ignored"},
		{"handlers 91: a field inside of it", "spec.a.b", "it is ignored"},
		{"handlers 91: the kind", "kind", "only the API server writes it"},
		{"handlers 91: a field of metadata that a user may set", "metadata.finalizers", ""},
		{"handlers 91: one that only the server sets", "metadata.uid", "only the API server writes it"},
		{"handlers 91: an own annotation", "metadata.annotations.operkit.dev/a", "it is an annotation of the operator itself"},
		{"handlers 91: another's annotation", "metadata.annotations.example.dev/a", ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			path := strings.SplitN(row.path, ".", 3)
			if row.path == "" {
				path = nil
			}
			assert.Equal(t, row.want, rules.Excludes(path))
		})
	}
}

// FuzzOf builds the essence of whatever JSON object there is: it changes nothing, and cleaning it again changes nothing.
func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"metadata":{"annotations":{"a/operkit-handled":"x","/":1},"labels":null},"status":{"a":{"b":null}},"spec":[]}`))
	f.Add([]byte(`{"metadata":"text","status":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var given map[string]any
		if json.Unmarshal(data, &given) != nil {
			return
		}
		before := runtime.DeepCopyJSON(given)
		rules := Rules{
			Extra: [][]string{{"status", "a", "b"}, {"metadata"}, {"status", "a"}, {"spec", "x"}}, Ignored: [][]string{{"spec", "a", "b"}},
			Domains: []string{"a"}, Keys: []string{"/"},
		}
		essence := rules.Of(given)
		assert.Equal(t, before, given)
		assert.Equal(t, essence, rules.Clean(essence))
	})
}
