package readiness_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/status/readiness"
)

func TestAll(t *testing.T) {
	t.Parallel()
	result := func(state readiness.State, name string) readiness.Result {
		return readiness.Result{State: state, Reason: "R", Message: "m", Object: readiness.Object{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: name}}
	}
	fine := result(readiness.Ready, "fine")
	for _, c := range []struct {
		reason   string
		results  []readiness.Result
		state    readiness.State
		blockers []string
		message  string
	}{
		{"nothing to wait for", nil, readiness.Ready, nil, "0 of 0 are ready"},
		{"all ready", []readiness.Result{fine, fine}, readiness.Ready, nil, "2 of 2 are ready"},
		{
			"one pending, by name", []readiness.Result{fine, result(readiness.InProgress, "web")}, readiness.InProgress,
			[]string{"web"}, "1 of 2 are ready; Deployment.apps ns/web: InProgress: m",
		},
		{
			"the worst first, then by name", []readiness.Result{
				result(readiness.InProgress, "g"), result(readiness.NotFound, "e"), result(readiness.InProgress, "f"), fine,
				result(readiness.Unknown, "c"), result(readiness.Terminating, "d"), result(readiness.Failed, "b"), result(readiness.Failed, "a"),
			}, readiness.Failed,
			[]string{"a", "b", "c", "d", "e", "f", "g"}, "1 of 8 are ready; Deployment.apps ns/a: Failed: m; Deployment.apps ns/b: Failed: m; Deployment.apps ns/c: Unknown: m; and 4 more",
		},
		{"one that names nothing", []readiness.Result{readiness.Of(nil)}, readiness.NotFound, []string{""}, "0 of 1 are ready; an object: NotFound: there is no such object"},
		{"a state that nobody knows", []readiness.Result{{State: "Odd"}}, "Odd", []string{""}, "0 of 1 are ready; an object: Odd: "},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			s := readiness.All(c.results...)
			var names []string
			for _, blocker := range s.Blockers {
				names = append(names, blocker.Object.Name)
			}
			assert.Equal(t, c.blockers, names)
			assert.Equal(t, c.state, s.State)
			assert.Equal(t, c.message, s.Message)
			assert.Equal(t, c.state == readiness.Ready, s.Ready())
			assert.Equal(t, []int{len(c.results), len(c.results) - len(c.blockers)}, []int{s.Total, s.ReadyCount})
		})
	}
}

func TestObjectString(t *testing.T) {
	t.Parallel()
	for want, object := range map[string]readiness.Object{
		"":                       {},
		"Pod":                    {Kind: "Pod"},
		"Pod ns/p":               {Kind: "Pod", Namespace: "ns", Name: "p"},
		"Node n":                 {Kind: "Node", Name: "n"},
		"Deployment.apps ns/web": {Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web"},
		"ns/nameless":            {Namespace: "ns", Name: "nameless"},
	} {
		assert.Equal(t, want, object.String())
	}
}
