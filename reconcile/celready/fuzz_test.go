package celready

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// forEver is longer than three evaluations up to their limits take, under the race detector as well.
const forEver = 30 * time.Second

// FuzzCompile gives Compile whatever expressions there are, and judges whatever object by those that it takes: nothing
// panics, each evaluation ends by itself, an error names its expression, and a result has state, reason and message.
// The object stays as it is.
func FuzzCompile(f *testing.F) {
	objects := []string{
		`{}`, `{"status":null}`, `{"apiVersion":"v1","kind":"Pod","status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},null,[]]}}`,
		`{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"generation":1.0},"a":[1,2.5,"x",{"b":[[1],[2]]}],"s":"text","n":9223372036854775807}`,
	}
	for _, object := range objects {
		for _, e := range []Expressions{certificate, rollout, knativeService, gateway, database, deployment, gameServer} {
			f.Add(e.Ready, e.Failed, e.Message, object)
		}
	}
	for _, ready := range []string{
		"", "(", "object", "object == object", "object.a.map(x, x).size() == 4", "object.s.matches('(a+)+$')", "[object, object].exists(o, o == object)",
		"object.a.all(a, object.a.all(b, object.a.all(c, a == b)))", "cel.bind(x, object.a + object.a, x + x == x)", "object.s.replace('', object.s) == ''",
		"object.a.distinct().sort() == []", "lists.range(object.n).size() > 0", "object.a.sortBy(x, string(x)).first() == optional.none()", "object.a.flatten(3) == []",
		"object.?a[?0].optMap(x, x + 1).orValue(0) == 2", "object.n + 1 > 0", "1 / (object.n - object.n) == 0", "timestamp(object.s) > timestamp(0)", "duration(object.s) > duration('1s')",
		"object.all(k, v, v == object[k])", "'%s %d %.3f'.format([object, object.n, object.a[1]]) == ''", "b'a' == bytes(object.s)", "type(object.s) == string", "{object.s: 1}[object.s] == 1",
		"object.s.split('').join(object.s) == object.s.reverse()", "!has(object.s.t)", "object.a[-1] == object.a[99999999999]",
	} {
		f.Add(ready, "object.s == 1", "object.s + string(object.n)", objects[3])
	}
	states := []readiness.State{readiness.Ready, readiness.InProgress, readiness.Failed, readiness.Terminating, readiness.NotFound, readiness.Unknown}
	f.Fuzz(func(t *testing.T, ready, failed, message, text string) {
		rule, err := Compile(Expressions{Ready: ready, Failed: failed, Message: message})
		if err != nil {
			require.Nil(t, rule)
			require.Regexp(t, `^(ready|failed|message):`, err.Error())
			return
		}
		content := map[string]any{}
		if utiljson.Unmarshal([]byte(text), &content) != nil || content == nil {
			return
		}
		before, err := json.Marshal(content)
		require.NoError(t, err)

		began := time.Now()
		result := rule.Result(noTime, content)
		require.Less(t, time.Since(began), forEver)
		require.True(t, slices.Contains(states, result.State), "%+v", result)
		require.NotEmpty(t, result.Reason)
		require.NotEmpty(t, result.Message)
		_ = rule.Judge(t.Context(), &unstructured.Unstructured{Object: content})
		for _, e := range []*expression{rule.ready, rule.failed, rule.message} {
			if e == nil {
				continue
			}
			_, details, err := e.program.Eval(activation{content})
			if err == nil {
				require.LessOrEqual(t, *details.ActualCost(), uint64(DefaultCostLimit))
			}
		}
		after, err := json.Marshal(content)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
	})
}
