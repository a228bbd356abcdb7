package edit

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFrozen(t *testing.T) {
	for _, row := range []struct {
		reason, rule string
		at           string
		want         []string // what keeps its value
	}{
		{"a field that must not change", "self == oldSelf", "spec.name", []string{"spec.name"}},
		{"the fields that a rule names, not the whole object", "self.a == oldSelf.a || self.b > 3", "spec", []string{"spec.a", "spec.b"}},
		{"what a function is called of", "self.names.all(n, n.size() < 3) && self.metadata.Name.matches('x')", "spec", []string{"spec.metadata.Name", "spec.names"}},
		{"what may be absent", "has(self.a.b) ? oldSelf.?c.orValue('') == '' : true", "", []string{"a.b", "c"}},
		{"an escaped name", "self.a__dash__b > 1", "spec", []string{"spec.a-b"}},
		{"an index is of the whole", "self.a[0].b > 1", "spec", []string{"spec.a"}},
		{"a rule that names nothing", "1 > 0", "spec", []string{"spec"}},
	} {
		t.Run("explore 23: "+row.reason, func(t *testing.T) {
			f := frozen{}
			f.add(map[string]any{validations: []any{map[string]any{"rule": row.rule}}}, row.at)
			var got []string
			for path := range f {
				got = append(got, path)
			}
			slices.Sort(got)
			assert.Equal(t, row.want, got)
		})
	}
	t.Run("explore 23: what is in a frozen field keeps its value, and what it is in stays", func(t *testing.T) {
		f := frozen{"spec.a": true}
		assert.True(t, f.has("spec.a") && f.has("spec.a.b") && f.has("spec.a[].b"))
		assert.False(t, f.has("spec") || f.has("spec.ab") || f.has("spec.b"))
		assert.True(t, f.hasPart("spec") && f.hasPart("spec.a.b"))
		assert.False(t, f.hasPart("spec.ab"))
	})
	t.Run("explore 23: other fields of the object are edited", func(t *testing.T) {
		all := editsOf("{type: object, properties: {a: {type: integer}, b: {type: integer}}, x-kubernetes-validations: [{rule: self.a == oldSelf.a}]}", "it: {a: 1, b: 1}")
		assert.Equal(t, []string{"it.b: 2", "it.b left out"}, namesOf(all))
	})
}
