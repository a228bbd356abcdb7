package celready

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason      string
		expressions Expressions
		want        string
	}{
		{
			"without ready nothing would ever be ready", Expressions{},
			"ready: empty expression: write when an object is ready, such as object.status.phase == 'Running'",
		},
		{
			"blanks are nothing", Expressions{Ready: " \n", Failed: "\t"},
			"ready: empty expression: write when an object is ready, such as object.status.phase == 'Running'",
		},
		{
			"what doesn't parse", Expressions{Ready: "object.status.phase = 'Running'"},
			"ready:1:21: Syntax error: token recognition error at: '= '\n" +
				" | object.status.phase = 'Running'\n" +
				" | ....................^\n" +
				"ready:1:23: Syntax error: extraneous input ''Running'' expecting <EOF>\n" +
				" | object.status.phase = 'Running'\n" +
				" | ......................^",
		},
		{
			"the line of several that is wrong", Expressions{Ready: "true &&\n  objekt.status == 1"},
			"ready:2:3: undeclared reference to 'objekt' (did you mean 'object'?)\n" +
				" |   objekt.status == 1\n" +
				" | ..^",
		},
		{
			"object is the one variable", Expressions{Ready: "self.status.ready"},
			"ready:1:1: undeclared reference to 'self'\n" +
				" | self.status.ready\n" +
				" | ^",
		},
		{
			"a text can't be true", Expressions{Ready: "'yes'"},
			"ready:1:1: is of the type string: it must be of the type bool\n | 'yes'\n | ^",
		},
		{
			"nor can a message be a bool", Expressions{Ready: "true", Message: "object.a == 1"},
			"message:1:10: is of the type bool: it must be of the type string\n | object.a == 1\n | .........^",
		},
		{
			"an optional value isn't its value", Expressions{Ready: "object.?ready"},
			"ready:1:7: is of the type optional_type(dyn): it must be of the type bool\n | object.?ready\n | ......^",
		},
		{
			"all expressions at once, each by its name", Expressions{Ready: "1", Failed: "x", Message: "2"},
			"ready:1:1: is of the type int: it must be of the type bool\n | 1\n | ^\n" +
				"failed:1:1: undeclared reference to 'x'\n | x\n | ^\n" +
				"message:1:1: is of the type int: it must be of the type string\n | 2\n | ^",
		},
		{
			"all mistakes of one", Expressions{Ready: "a == 1 && b.c()"},
			"ready:1:1: undeclared reference to 'a'\n | a == 1 && b.c()\n | ^\n" +
				"ready:1:11: undeclared reference to 'b'\n | a == 1 && b.c()\n | ..........^\n" +
				"ready:1:14: undeclared reference to 'c'\n | a == 1 && b.c()\n | .............^",
		},
		{
			"Kubernetes' own libraries aren't there", Expressions{Ready: "quantity(object.spec.size).isGreaterThan(quantity('1Gi'))"},
			"ready:1:9: undeclared reference to 'quantity'",
		},
		{
			"a regular expression that is none", Expressions{Ready: "object.a.matches('(')"},
			"ready:1:18: invalid matches argument\n | object.a.matches('(')\n | .................^",
		},
		{
			"one that an object would bring", Expressions{Ready: "object.a.matches(object.b)"},
			"ready:1:24: the regular expression that is passed to matches must be a string literal\n | object.a.matches(object.b)\n | .......................^",
		},
		{
			"the same of the function", Expressions{Ready: "matches('a', object.b)"},
			"ready:1:20: the regular expression that is passed to matches must be a string literal",
		},
		{
			"a large one", Expressions{Ready: "object.a.matches('" + strings.Repeat("a{200}", 6) + "')"},
			"ready:1:18: regex program size 1202 exceeds limit of 1000",
		},
		{
			"a duration that is none", Expressions{Ready: "duration('soon') > duration('1s')"},
			"ready:1:10: invalid duration argument",
		},
		{
			"a conversion that can't be", Expressions{Ready: "int('x') == 1"},
			"ready:1:10: type conversion error",
		},
		{
			"a text that takes more arguments than it is given", Expressions{Ready: "true", Message: "'%s %s'.format([object.a])"},
			"message:1:15: index 1 out of range",
		},
		{
			"what costs too much whatever the object", Expressions{Ready: "lists.range(1000).map(a, lists.range(1000).map(b, a)).size() > 1"},
			"ready:1:62: costs at least 14035024 for any object, and the limit is 100000",
		},
		{
			"a list that doubles and doubles", Expressions{Ready: named("[1]", "X + X", "X == X", 20)},
			"ready:1:9: costs at least 105140 for any object, and the limit is 100000",
		},
		{
			"a long expression", Expressions{Ready: "true" + strings.Repeat(" && true", 1100)},
			"expression code point size exceeds limit",
		},
		{
			"parentheses without end", Expressions{Ready: strings.Repeat("(", 3000) + "true" + strings.Repeat(")", 3000)},
			"recursion limit exceeded",
		},
		{
			"one mistake many times", Expressions{Ready: "a" + strings.Repeat(" && a", 50)},
			"ready: and 41 more errors",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			rule, err := Compile(row.expressions)
			assert.Nil(t, rule)
			require.Error(t, err)
			assert.Contains(t, err.Error(), row.want)
			assert.Less(t, len(err.Error()), 200_000)
		})
	}
}

func TestCompileWhatOnlyObjectsKnow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, ready string }{
		{"a part of the object may be a bool", "object.status.ready"},
		{"one of two, of which one may be", "object.kind == 'A' ? true : object.status.ready"},
		{"what is expensive for some objects only", "object.a.all(a, object.b.all(b, object.c.all(c, object.d.all(d, a == b))))"},
		{"a regular expression that backtracking would take for ever", "object.a.matches('(a+)+$')"},
		{"many lines", "true &&\n true &&\n\ttrue"},
	} {
		_, err := Compile(Expressions{Ready: row.ready})
		assert.NoError(t, err, row.reason)
	}
}

func TestCostLimitOfCompile(t *testing.T) {
	t.Parallel()
	const hundred = "lists.range(100).all(n, n >= 0)"
	_, err := Compile(Expressions{Ready: hundred}, CostLimit(100))
	assert.ErrorContains(t, err, "for any object, and the limit is 100")
	_, err = Compile(Expressions{Ready: hundred}, CostLimit(0))
	assert.NoError(t, err, "zero is the default")
}

func TestRegistryErrors(t *testing.T) {
	t.Parallel()
	registry, err := Registry(map[schema.GroupKind]Expressions{
		{Group: "example.dev", Kind: "Wrong"}: {Ready: "x", Message: "1"},
		{Group: "example.dev", Kind: "Good"}:  {Ready: "true"},
		{Group: "example.dev", Kind: "Empty"}: {},
	})
	assert.Nil(t, registry)
	assert.EqualError(t, err, "kind Empty.example.dev: ready: empty expression: write when an object is ready, such as object.status.phase == 'Running'\n"+
		"kind Wrong.example.dev: ready:1:1: undeclared reference to 'x'\n | x\n | ^\n"+
		"message:1:1: is of the type int: it must be of the type string\n | 1\n | ^")
}
