package celready

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// large is an object large for an API server.
func large() *unstructured.Unstructured {
	list, texts := make([]any, 5_000), make([]any, 5_000)
	for i := range list {
		list[i], texts[i] = int64(i), fmt.Sprintf("text %d", i)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Large", "list": list, "texts": texts,
		"a": strings.Repeat("a", 500_000), "b": strings.Repeat("a", 250_000) + "b", "few": []any{int64(1)},
	}}
}

// named gives names to values, each made of the one before: value of X. last looks at the last one.
func named(first, value, last string, times int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "cel.bind(x0, %s, ", first)
	for i := range times {
		fmt.Fprintf(&text, "cel.bind(x%d, %s, ", i+1, strings.ReplaceAll(value, "X", fmt.Sprintf("x%d", i)))
	}
	return text.String() + strings.ReplaceAll(last, "X", fmt.Sprintf("x%d", times)) + strings.Repeat(")", times+1)
}

// looped does the same by loops over one element.
func looped(first, value, last string, times int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "[%s].all(x0, ", first)
	for i := range times {
		fmt.Fprintf(&text, "[%s].all(x%d, ", strings.ReplaceAll(value, "X", fmt.Sprintf("x%d", i)), i+1)
	}
	return text.String() + strings.ReplaceAll(last, "X", fmt.Sprintf("x%d", times)) + strings.Repeat(")", times+1)
}

// Expressions that would take for ever, or all memory, are refused beforehand or end at a limit.
func TestHostileExpressions(t *testing.T) {
	t.Parallel()
	object := large()
	const eight = "[X, X, X, X, X, X, X, X]"
	for _, row := range []struct{ reason, ready, want string }{
		{"loops in loops", "object.list.all(a, object.list.all(b, object.list.all(c, a >= 0)))", "costs more than the limit of 100000"},
		{"a loop over much that looks at much", "object.list.all(n, n in object.list)", "costs more than the limit of 100000"},
		{"a loop that makes a list of lists", "object.list.map(a, object.list.map(b, a)).size() > 0", "costs more than the limit of 100000"},
		{"a list of lists that are the same one", "object.list.map(a, object.list).size() > 0", "makes a value of more than 262144 elements"},
		{"a list that doubles", looped("[1]", "X + X", "X == X", 20), "makes a value of more than 262144 elements"},
		{"a part of the object that doubles", named("object.few", "X + X", "X == X", 20), "makes a value of more than 262144 elements"},
		{"a list in a list in a list", named("[1]", eight, "X == X", 12), "makes a value of more than 262144 elements"},
		{"shown as a text", named("['a']", eight, "'%s'.format([X]) == 'a'", 12), "makes a value of more than 262144 elements"},
		{"in the keys of a map", named("{'a': object.few}", "{'a': X, 'b': X, 'c': X, 'd': X}", "X == X", 12), "makes a value of more than 262144 elements"},
		{"a part of the object that doubles as a text", named("object.a", "X + X", "X == X", 20), "costs more than the limit of 100000"},
		{"a text whose characters become the text", named("'aaaaaaaaaaaaaaaa'", "X.replace('a', X)", "X == X", 8), "has a call of replace that is too much work"},
		{"of the object", "object.a.replace('a', object.b) == 'a'", "has a call of replace that is too much work"},
		{"as often as it is said", "object.a.replace('', object.b, 1000000) == 'a'", "has a call of replace that is too much work"},
		{"a text between each two", "object.texts.join(object.a) == 'a'", "has a call of join that is too much work"},
		{"a long text that is looked for in a longer one", "object.a.indexOf(object.b) == 1", "has a call of indexOf that is too much work"},
		{"from a place", "object.a.indexOf(object.b, 3) == 1", "has a call of indexOf that is too much work"},
		{"backwards", "object.a.lastIndexOf(object.b) == 1", "has a call of lastIndexOf that is too much work"},
		{"each with each", "object.list.distinct().size() == 1", "has a call of distinct that is too much work"},
		{"a long text and a large regular expression", "object.a.matches('^(a?){200}b$')", "has a call of matches that is too much work"},
		{"a range without end", "lists.range(object.list.size() * 100000).size() == 1", "can't be evaluated"},
		{"many parts that are looked at once", "object.list.all(n, object.a.contains(object.b))", "costs more than the limit of 100000"},
		{"texts put together often", "object.list.all(n, size(object.a + object.b) > n)", "costs more than the limit of 100000"},
		{"large things compared often", "object.list.all(n, object.texts == object.texts)", "costs more than the limit of 100000"},
		{"made into lists often", "object.list.all(n, object.a.split('').size() > 1)", "costs more than the limit of 100000"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var opts []Option
			if strings.HasPrefix(row.want, "has a call of") {
				opts = append(opts, CostLimit(math.MaxInt64)) // a call is charged for what it did, and must not have begun
			}
			result := compiled(t, Expressions{Ready: row.ready}, opts...).Result(noTime, object.Object)
			assert.Equal(t, readiness.Unknown, result.State, result.Message)
			assert.Contains(t, result.Message, "Large.example.dev: the expression ready")
			assert.Contains(t, result.Message, row.want)
		})
	}
}

// What is only large isn't hostile.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	object := large()
	for _, ready := range []string{
		"object.list.all(n, n >= 0)",
		"object.texts.exists(text, text == 'text 4999')",
		"object.list.map(n, n + 1).size() == 5000",
		"'text 4999' in object.texts",
		"object.a.contains('aaa')",
		"object.a.matches('^a+$')",
		"object.b.indexOf('aaa') == 0",
		"object.texts.join(', ').startsWith('text 0, text 1')",
		"object.texts == object.texts && object == object",
		"object.texts.slice(0, 100).distinct().size() == 100",
	} {
		result := judged(t, ready, object)
		assert.Equal(t, readiness.Ready, result.State, "%s: %s", ready, result.Message)
	}
}

// deep is an object as deep as an API server may have it, and deeper.
func deep(levels int) *unstructured.Unstructured {
	inner := map[string]any{"end": true}
	for range levels {
		inner = map[string]any{"a": inner}
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.dev/v1", "kind": "Deep", "spec": inner}}
}

func TestDeepObjects(t *testing.T) {
	t.Parallel()
	for _, ready := range []string{"object.spec == object.spec", "size(object.spec) == 1", "[object.spec].size() == 1", "object.spec in [object.spec]"} {
		assert.Equal(t, readiness.Ready, judged(t, ready, deep(500)).State, ready)
		result := judged(t, ready, deep(5_000))
		assert.Contains(t, []readiness.State{readiness.Ready, readiness.Unknown}, result.State, ready)
	}
}

func TestCostLimit(t *testing.T) {
	t.Parallel()
	object := read(t, "{apiVersion: example.dev/v1, kind: Thing, list: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}")
	rule := compiled(t, Expressions{Ready: "object.list.all(n, n > 0)"}, CostLimit(20))
	assert.Equal(t, readiness.Result{
		State: readiness.Unknown, Reason: "CostExceeded", Message: "Thing.example.dev: the expression ready costs more than the limit of 20: simplify it, or allow more by the option celready.CostLimit",
	}, rule.Result(noTime, object.Object))
	rule = compiled(t, Expressions{Ready: "object.list.all(n, n > 0)"}, CostLimit(100))
	assert.Equal(t, readiness.Ready, rule.Result(noTime, object.Object).State, "each evaluation has the whole limit")
	assert.Equal(t, readiness.Ready, rule.Result(noTime, object.Object).State, "again and again")

	t.Run("a message that costs too much says so, and the state stands", func(t *testing.T) {
		t.Parallel()
		rule := compiled(t, Expressions{Ready: "false", Message: "object.list.map(n, string(n)).join()"}, CostLimit(20))
		result := rule.Result(noTime, object.Object)
		assert.Equal(t, readiness.InProgress, result.State)
		assert.Equal(t, "the expression ready is not true: false; the expression message costs more than the limit of 20: simplify it, or allow more by the option celready.CostLimit", result.Message)
	})
	t.Run("so does failed", func(t *testing.T) {
		t.Parallel()
		rule := compiled(t, Expressions{Ready: "true", Failed: "object.list.exists(n, n < 0)"}, CostLimit(20))
		assert.Equal(t, "Thing.example.dev: the expression failed costs more than the limit of 20: simplify it, or allow more by the option celready.CostLimit", rule.Result(noTime, object.Object).Message)
	})
}
