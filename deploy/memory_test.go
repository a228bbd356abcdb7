package deploy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What one object has shown of a map or list that is owned as a whole holds for others of its kind, and for no other path:
// one that others have emptied looks the same in metadata.
func TestAtomicFieldsAreShown(t *testing.T) {
	t.Parallel()
	const (
		leaf    = `{manager: operkit, operation: Apply, apiVersion: v1, fieldsV1: {f:spec: {f:selector: {}}}}`
		entries = `{manager: operkit, operation: Apply, apiVersion: v1, fieldsV1: {f:spec: {f:selector: {.: {}, f:a: {}}}}}`
		theirs  = `{manager: kubectl, operation: Update, apiVersion: v1, fieldsV1: {f:spec: {f:selector: {f:b: {}}}}}`
		intent  = `{spec: {selector: {a: x}}}`
	)
	kind := schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	for reason, row := range map[string]struct {
		content, intent string
		managers        []string
		learnt          bool
	}{
		"a whole map with its entry":                   {`{spec: {selector: {a: x}}}`, intent, []string{leaf}, true},
		"a free map":                                   {`{spec: {selector: {a: x}}}`, intent, []string{entries}, false},
		"a free map that was emptied":                  {`{spec: {selector: {}}}`, intent, []string{leaf}, false},
		"a free map that isn't there any more":         {`{spec: {}}`, intent, []string{leaf}, false},
		"a free map in which somebody else owns":       {`{spec: {selector: {b: y}}}`, intent, []string{leaf, theirs}, false},
		"also what of its entries are ours isn't told": {`{spec: {selector: {a: x, b: y}}}`, intent, []string{leaf, theirs}, false},
		"an empty map shows nothing":                   {`{spec: {selector: {a: x}}}`, `{spec: {selector: {}}}`, []string{leaf}, false},
		"a whole list":                                 {`{spec: {selector: [x]}}`, `{spec: {selector: [x]}}`, []string{leaf}, true},
		"a list that was emptied":                      {`{spec: {selector: []}}`, `{spec: {selector: [x]}}`, []string{leaf}, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			known := &memory{}
			coverage(liveWith(t, row.content, row.managers...), "operkit", decoded(t, row.intent), &knownContent{memory: known, kind: kind})
			for _, kindOf := range []schema.GroupVersionKind{kind, {Version: "v1", Kind: "Other"}} {
				next := &knownContent{partial: true, memory: known, kind: kindOf}
				assert.True(t, coverage(liveWith(t, `{}`, leaf), "operkit", decoded(t, intent), next))
				assert.Equal(t, !row.learnt || kindOf != kind, next.needed)
			}
			elsewhere := &knownContent{partial: true, memory: known, kind: kind}
			assert.True(t, coverage(liveWith(t, `{}`, `{manager: operkit, operation: Apply, apiVersion: v1, fieldsV1: {f:spec: {f:other: {}}}}`),
				"operkit", decoded(t, `{spec: {other: {a: x}}}`), elsewhere))
			assert.True(t, elsewhere.needed, "another path")
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	known := &memory{}
	for i := range uint64(maxRemembered + 10) {
		known.atomic.put(atomicField{path: i}, true)
	}
	assert.LessOrEqual(t, len(known.atomic.held), maxRemembered)
	assert.True(t, known.atomic.has(atomicField{path: maxRemembered + 9}))
}
