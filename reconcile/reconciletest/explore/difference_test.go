package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestListsByName(t *testing.T) {
	stateFrom := func(text string) state {
		return stateOf([]*unstructured.Unstructured{parsed(t, "{kind: Shop, metadata: {name: tea}, "+text+"}")})
	}
	for _, row := range []struct {
		reason, before, after string
		want                  []string
	}{
		{"another order of conditions is none", "status: {conditions: [{type: A, status: 'True'}, {type: B}]}", "status: {conditions: [{type: B}, {type: A, status: 'True'}]}", nil},
		{"a condition has its type", "status: {conditions: [{type: A, status: 'True'}, {type: B}]}", "status: {conditions: [{type: B}, {type: A, status: 'False'}]}",
			[]string{`Shop tea .status.conditions[A].status: "True" -> "False"`}},
		{"in a spec the order counts", "spec: {env: [{name: A}, {name: B}]}", "spec: {env: [{name: B}, {name: A}]}",
			[]string{`Shop tea .spec.env: [{"name":"A"},{"name":"B"}] -> [{"name":"B"},{"name":"A"}]`}},
		{"and the element has its name", "spec: {env: [{name: A, value: a}]}", "spec: {env: [{name: B}, {name: A, value: b}]}",
			[]string{`Shop tea .spec.env[A].value: "a" -> "b"`, `Shop tea .spec.env[B]: none -> {"name":"B"}`}},
	} {
		t.Run("explore 50: "+row.reason, func(t *testing.T) {
			assert.Equal(t, row.want, texts(compare(stateFrom(row.before), stateFrom(row.after))))
		})
	}
	t.Run("explore 50: an element that differs in each execution has no name", func(t *testing.T) {
		differences := compare(stateFrom("status: {pods: [{name: a}]}"), stateFrom("status: {pods: [{name: b}]}"))
		assert.Len(t, differences, 2)
		assert.Equal(t, differences[0].key(), differences[1].key())
	})
}
