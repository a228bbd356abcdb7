package celready

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMakesValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, ready string
		want          bool
	}{
		{"looking makes nothing", "object.a == 1 && object.b.exists(x, x == 'a')", false},
		{"constants stay as they are", "object.a in ['a', 'b'] && {'a': 1}[object.b] == 1", false},
		{"elements that are chosen", "object.a.filter(x, x.b == 1).map(x, x.c).join() == 'a'", false},
		{"elements that are made anew", "object.a.map(x, x.b.lowerAscii()).size() == 1", false},
		{"with two variables", "object.a.transformList(i, x, x.b).size() == 1", false},
		{"a sum", "object.a + object.b == []", true},
		{"of numbers, as nobody knows that", "object.a + 1 == 2", true},
		{"a list", "[object.a, object.a] == []", true},
		{"a map", "{'a': object.a} == {}", true},
		{"a loop that puts something else into each element", "object.a.map(x, object.b) == []", true},
		{"and one in a loop", "object.a.all(x, object.a.map(y, x) == [])", true},
		{"a map of something else", "object.a.transformMap(k, v, object.b) == {}", true},
		{"a list in a loop", "object.a.map(x, [x, x]) == []", true},
		{"a sum in a loop", "object.a.map(x, x + x) == []", true},
		{"in what a loop goes over", "[object.a].all(x, x == 1)", true},
	} {
		assert.Equal(t, row.want, makesValues(compiled(t, Expressions{Ready: row.ready}).ready.tree), row.reason)
	}
}
