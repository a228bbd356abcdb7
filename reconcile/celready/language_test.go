package celready

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
)

// thing is what the tests of the language look at.
const thing = `
apiVersion: example.dev/v1
kind: Thing
metadata: {name: a, generation: 2, labels: {app.kubernetes.io/name: shop}}
spec: {replicas: 3, share: 3.0, half: 0.5, text: Läuft, none: null, list: [3, 1, 3], parts: {a: 1, b: 2}}
status:
  phase: Running
  since: "2026-05-06T10:00:00Z"
  conditions:
  - {type: Synced, status: "True", lastTransitionTime: "2026-05-06T10:00:00Z"}
  - {type: Ready, status: "False", reason: Starting, lastTransitionTime: "2026-05-06T10:00:00Z"}
  - {type: Ready, status: "True", reason: Started, lastTransitionTime: "2026-05-06T11:00:00Z"}`

func TestLanguage(t *testing.T) {
	t.Parallel()
	object := read(t, thing)
	for _, row := range []struct{ reason, ready string }{
		{"fields", "object.status.phase == 'Running' && object.kind == 'Thing'"},
		{"keys that are no names", "object.metadata.labels['app.kubernetes.io/name'] == 'shop'"},
		{"elements", "object.spec.list[0] == 3 && size(object.spec.list) == 3"},
		{"null is a value", "object.spec.none == null && has(object.spec.none)"},
		{"whole numbers and others are equal", "object.spec.replicas == object.spec.share && object.spec.share == 3"},
		{"and compare", "object.spec.replicas > object.spec.half && 1 < 1.5 && object.spec.half <= 1"},
		{"an int is a uint as well", "object.spec.replicas == 3u"},
		{"but not a text", "object.spec.replicas != '3'"},
		{"has() of what is there", "has(object.status.phase)"},
		{"and of what isn't", "!has(object.status.message)"},
		{"a missing operand of || doesn't matter if the other one is true", "object.status.message == 'a' || object.status.phase == 'Running'"},
		{"in any order", "object.status.phase == 'Running' || object.status.message == 'a'"},
		{"optional fields", "object.?status.?message.orValue('') == '' && object.?status.?phase.orValue('') == 'Running'"},
		{"optional elements", "object.status.conditions[?7].?type.orValue('none') == 'none'"},
		{"optional values", "object.?status.?phase.optMap(p, p.lowerAscii()).orValue('') == 'running'"},
		{"loops", "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True') && object.spec.list.all(n, n > 0)"},
		{"loops over a map", "object.spec.parts.all(name, name in ['a', 'b'])"},
		{"with two variables", "object.spec.parts.all(name, n, n < 3) && object.spec.list.exists(i, n, i == 1 && n == 1)"},
		{"made anew with two variables", "object.spec.parts.transformMap(k, v, v > 1, v + 1) == {'b': 3}"},
		{"a name for a value", "cel.bind(c, object.status.conditions, c.size() == 3 && c[0].type == 'Synced')"},
		{"texts", "object.spec.text.startsWith('Lä') && object.spec.text.substring(2) == 'uft' && 'a,b'.split(',').join('+') == 'a+b'"},
		{"more of texts", "'%s has %d of %.1f'.format([object.metadata.name, object.spec.replicas, object.spec.half]) == 'a has 3 of 0.5'"},
		{"the last place of a text in a text", "'banana'.lastIndexOf('an') == 3 && 'banana'.replace('a', 'o', 1) == 'bonana'"},
		{"lists", "object.spec.list.distinct().sort() == [1, 3] && [[1], [2]].flatten() == [1, 2]"},
		{"the newest of several conditions", "object.status.conditions.filter(c, c.type == 'Ready').sortBy(c, c.lastTransitionTime).last().value().reason == 'Started'"},
		{"times and durations", "timestamp(object.status.since) + duration('1h') == timestamp('2026-05-06T11:00:00Z') && timestamp(object.status.since).getHours() == 10"},
		{"regular expressions", "object.status.phase.matches('^Run') && matches(object.spec.text, '^L.uft$')"},
		{"conditions", "object.spec.replicas > 2 ? object.status.phase == 'Running' : false"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			result := judged(t, row.ready, object)
			assert.Equal(t, readiness.Ready, result.State, result.Message)
		})
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	object := read(t, thing)
	for _, row := range []struct {
		reason, ready, missing string
		fields                 []string
	}{
		{"a field", "object.status.message == 'a'", "object.status.message", []string{"status.message"}},
		{"a field of what isn't there", "object.status.progress.done > 3", "object.status.progress.done", []string{"status.progress.done"}},
		{"a field of what has none", "object.spec.replicas.wanted == 3", "object.spec.replicas.wanted", []string{"spec.replicas.wanted"}},
		{"a field of null", "object.spec.none.name == 'a'", "object.spec.none.name", []string{"spec.none.name"}},
		{"what has() would look into", "has(object.status.progress.done)", "object.status.progress", []string{"status.progress.done"}},
		{"a key", "object.metadata.labels['tier'] == 'a'", `object.metadata.labels["tier"]`, []string{"metadata.labels"}},
		{"a key of what isn't there", "object.metadata.annotations['tier'] == 'a'", `object.metadata.annotations["tier"]`, []string{"metadata.annotations"}},
		{"an element", "object.spec.list[3] == 1", "object.spec.list[3]", []string{"spec.list"}},
		{"an element before the first", "object.spec.list[-1] == 1", "object.spec.list[-1]", []string{"spec.list"}},
		{
			"what a loop looks for", "object.status.conditions.filter(c, c.type == 'Failed')[0].status == 'True'",
			`object.status.conditions.filter(c, c.type == "Failed")[0].status`, []string{"status.conditions"},
		},
		{"a field of each element", "object.status.conditions.all(c, c.reason != '')", "c.reason", []string{"status.conditions"}},
		{"a key that is missing itself", "object.spec.parts[object.spec.part] == 1", "object.spec.parts[object.spec.part]", []string{"spec.parts", "spec.part"}},
		{"negated it isn't ready either", "!(object.status.message == 'failed')", "object.status.message", []string{"status.message"}},
		{"nor compared with !=", "object.status.message != 'failed'", "object.status.message", []string{"status.message"}},
		{"nor as one of two that are needed", "object.status.phase == 'Running' && object.status.message == 'a'", "object.status.message", []string{"status.message"}},
		{"nor where a call would need it", "object.status.message.contains('a')", "object.status.message", []string{"status.message"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			result := judged(t, row.ready, object)
			assert.Equal(t, readiness.Result{
				State: readiness.InProgress, Reason: "FieldMissing", Message: row.missing + " isn't there yet", Fields: row.fields,
			}, result)
			result = compiled(t, Expressions{Ready: "true", Failed: row.ready}).Result(noTime, object.Object)
			assert.Equal(t, readiness.Ready, result.State, "it hasn't failed by that: %s", result.Message)
		})
	}
}

// Errors say where and what, and nothing of what is in the object.
func TestErrorsHoldNoValues(t *testing.T) {
	t.Parallel()
	object := read(t, `
apiVersion: v1
kind: Secret
metadata: {name: login}
data: {password: hunter2, parts: [hunter2], hunter2: 1}`)
	for _, row := range []struct{ reason, ready, want string }{
		{"a time that is none", "timestamp(object.data.password) > timestamp(0)", "1:10: timestamp(object.data.password) can't be evaluated"},
		{"a duration that is none", "duration(object.data.password) > duration('1s')", "1:9: duration(object.data.password) can't be evaluated"},
		{"a number that is none", "int(object.data.password) > 1", "1:4: int(object.data.password) can't be evaluated"},
		{"a bool that is none", "bool(object.data.password)", "1:5: bool(object.data.password) can't be evaluated"},
		{"an operator for other types", "object.data.password > 1", "1:22: object.data.password > 1 can't be evaluated: no such overload"},
		{"a method for other types", "object.data.password.getHours() == 1", "object.data.password.getHours() can't be evaluated: no such overload"},
		{"a place that isn't in it", "object.data.password.charAt(99) == 'a'", "1:28: object.data.password.charAt(99) can't be evaluated"},
		{"a format that it isn't for", "'%d'.format([object.data.password]) == ''", `1:12: "%d".format([object.data.password]) can't be evaluated`},
		{"elements that can't be joined", "[1, object.data.password].join() == ''", "can't be evaluated"},
		{"a division by zero", "1 / (size(object.data.parts) - 1) == 1", "1:3: 1 / (size(object.data.parts) - 1) can't be evaluated: division by zero"},
		{"a number that is too large", "9223372036854775807 + size(object.data.parts) > 1", "can't be evaluated: integer overflow"},
		{"a time that is too large", "timestamp(size(object.data.parts) * 999999999999) > timestamp(0)", "the expression ready can't be evaluated: timestamp overflow"},
		{"a place in a list that can't be computed", "object.data.parts[1 / 0] == 1", "1:21: 1 / 0 can't be evaluated: division by zero"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			result := judged(t, row.ready, object)
			assert.Equal(t, readiness.Unknown, result.State)
			assert.Equal(t, "ExpressionError", result.Reason)
			assert.Contains(t, result.Message, "Secret: the expression ready")
			assert.Contains(t, result.Message, row.want)
			assert.NotContains(t, result.Message, "hunter2")
		})
	}
	t.Run("a key that is missing and comes out of the object", func(t *testing.T) {
		t.Parallel()
		result := judged(t, "object.metadata[object.data.password] == 1", object)
		assert.Equal(t, "object.metadata[object.data.password] isn't there yet", result.Message)
	})
	t.Run("a message says what it asks for", func(t *testing.T) {
		t.Parallel()
		result := compiled(t, Expressions{Ready: "false", Message: "object.data.password"}).Result(noTime, object.Object)
		assert.Equal(t, "hunter2", result.Message)
	})
}
