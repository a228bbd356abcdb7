package engine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason   string
		edits    [][2]string
		from, to string
		want     bool
	}{
		{"handlers 105: none", nil, "a", "b", false},
		{"handlers 105: one", [][2]string{{"a", "b"}}, "a", "b", true},
		{"handlers 105: several", [][2]string{{"a", "b"}, {"b", "c"}}, "a", "c", true},
		{"handlers 105: the pass comes between them", [][2]string{{"a", "b"}, {"b", "c"}}, "a", "b", true},
		{"handlers 105: others have changed it before", [][2]string{{"x", "b"}}, "a", "b", false},
		{"handlers 105: others have changed it between them", [][2]string{{"a", "b"}, {"x", "c"}}, "a", "c", false},
		{"handlers 105: others have changed it after them", [][2]string{{"a", "b"}}, "a", "x", false},
		{"handlers 105: not backwards", [][2]string{{"a", "b"}, {"b", "c"}}, "c", "b", false},
		{"handlers 105: one that follows is seen from an older state", [][2]string{{"a", "b"}, {"a", "c"}}, "a", "c", true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var e edits
			for _, one := range row.edits {
				e.add(one[0], one[1])
			}
			assert.Equal(t, row.want, e.lead(row.from, row.to))
		})
	}
	t.Run("handlers 105: edits without a pass are bounded", func(t *testing.T) {
		t.Parallel()
		var e edits
		for n := range 3 * mostEdits {
			e.add(fmt.Sprint(n), fmt.Sprint(n+1))
		}
		assert.Len(t, e, mostEdits)
		assert.True(t, e.lead(fmt.Sprint(3*mostEdits-10), fmt.Sprint(3*mostEdits)))
	})
	t.Run("handlers 105: passes between edits forget what was before them", func(t *testing.T) {
		t.Parallel()
		var e edits
		e.add("a", "b")
		assert.True(t, e.lead("a", "b"))
		e.add("b", "c")
		e.stored("c", "d")
		assert.True(t, e.lead("b", "d"))
		assert.Equal(t, edits{"d"}, e)
		e.stored("x", "y")
		assert.Equal(t, edits{"d"}, e)
	})
}
