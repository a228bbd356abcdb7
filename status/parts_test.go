package status_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/status"
)

func TestComponents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		state  status.ComponentState
		want   string
	}{
		{
			"status 5: an empty state", status.ComponentState{},
			`{"allComponents":[],"deployedComponents":[],"verifiedComponents":[],"unverifiedComponents":[],"failedComponents":[],"unstartedComponents":[],"deployed":"0/0","verified":"0/0"}`,
		},
		{
			"status 5: every outcome, sorted, with a graph",
			status.ComponentState{
				Verified: []string{"B", "A"}, Unverified: []string{"C"}, Failed: []string{"D"},
				Unstarted: map[string]string{"E": "waits for D"}, Graph: "Graph({A:[B]})",
			},
			`{"allComponents":["A","B","C","D","E"],"deployedComponents":["A","B","C"],"verifiedComponents":["A","B"],"unverifiedComponents":["C"],"failedComponents":["D"],
			"unstartedComponents":[{"name":"E","reason":"waits for D"}],"deployed":"3/5","verified":"2/5","dependencyGraph":"Graph({A:[B]})"}`,
		},
		{
			"status W10: unstarted ones by name, with reasons where there are some; messages",
			status.ComponentState{
				All: []string{"z", "a"}, Unstarted: map[string]string{"z": "", "b": "waits for a"},
				Messages: map[string]string{"b": "m", "a": "n"},
			},
			`{"allComponents":["a","b","z"],"deployedComponents":[],"verifiedComponents":[],"unverifiedComponents":[],"failedComponents":[],
			"unstartedComponents":[{"name":"b","reason":"waits for a"},{"name":"z"}],"componentMessages":[{"name":"a","message":"n"},{"name":"b","message":"m"}],"deployed":"0/3","verified":"0/3"}`,
		},
		{
			"the kinds of its objects, sorted, each once", status.ComponentState{Kinds: []string{"v1/Secret", "apps/v1/Deployment", "v1/Secret"}},
			`{"allComponents":[],"deployedComponents":[],"verifiedComponents":[],"unverifiedComponents":[],"failedComponents":[],"unstartedComponents":[],"deployed":"0/0","verified":"0/0",
			"kinds":["apps/v1/Deployment","v1/Secret"]}`,
		},
		{
			"status 5: a disabled component is in a list of its own, so that n of n means everything, as readers of oper8's status expect",
			status.ComponentState{All: []string{"old", "web"}, Verified: []string{"web", "older"}, Disabled: []string{"older", "old", "old"}},
			`{"allComponents":["web"],"deployedComponents":["web"],"verifiedComponents":["web"],"unverifiedComponents":[],"failedComponents":[],"unstartedComponents":[],
			"disabledComponents":["old","older"],"deployed":"1/1","verified":"1/1"}`,
		},
		{
			"names given twice count once", status.ComponentState{All: []string{"a", "a"}, Verified: []string{"a", "a"}},
			`{"allComponents":["a"],"deployedComponents":["a"],"verifiedComponents":["a"],"unverifiedComponents":[],"failedComponents":[],"unstartedComponents":[],"deployed":"1/1","verified":"1/1"}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			next, _ := update(t, status.Application{Components: &c.state}, document(t, `{"componentStatus":{"allComponents":["old"],"extra":1,"stale":true}}`))
			assert.JSONEq(t, c.want, text(t, next["componentStatus"]), "the previous state is replaced")
			_, changed := update(t, status.Application{Components: &c.state}, next)
			assert.False(t, changed)
		})
	}
	t.Run("the names given aren't sorted in place", func(t *testing.T) {
		t.Parallel()
		names := []string{"b", "a"}
		update(t, status.Application{Components: &status.ComponentState{Verified: names}}, nil)
		assert.Equal(t, []string{"b", "a"}, names)
	})
	t.Run("long texts of single components are shortened", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, status.Application{Components: &status.ComponentState{Messages: map[string]string{"a": strings.Repeat("x", 9999)}}}, nil)
		message := next["componentStatus"].(object)["componentMessages"].([]any)[0].(object)["message"].(string)
		assert.Len(t, message, 1024)
		assert.Contains(t, message, "truncated")
	})
	present := document(t, `{"conditions":[],"componentStatus":{"deployed":"1/1"}}`)
	t.Run("status W10: a verdict without a state marks the present one as stale", func(t *testing.T) {
		t.Parallel()
		next, changed := update(t, own(status.ReadyErrored, status.UpdatingErrored), present)
		assert.True(t, changed)
		assert.Equal(t, object{"deployed": "1/1", "stale": true}, next["componentStatus"])
		_, changed = update(t, own(status.ReadyErrored, status.UpdatingErrored), next)
		assert.False(t, changed)
	})
	t.Run("status 5: without a verdict the present state stays", func(t *testing.T) {
		t.Parallel()
		_, changed := update(t, status.Application{}, present)
		assert.False(t, changed)
	})
	t.Run("a component status of another shape stays until there is a state", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, own(status.ReadyErrored, ""), object{"componentStatus": "none"})
		assert.Equal(t, "none", next["componentStatus"])
		next, _ = update(t, status.Application{Components: &status.ComponentState{}}, next)
		assert.Equal(t, "0/0", next["componentStatus"].(object)["deployed"])
	})
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason        string
		application   status.Application
		current, want string
	}{
		{"status 6: a version", status.Application{Version: "1"}, `{}`, `{"versions":{"reconciled":"1"}}`},
		{"status 6: a version beside others", status.Application{Version: "2"}, `{"versions":{"reconciled":"1","x":1}}`, `{"versions":{"reconciled":"2","x":1}}`},
		{"status 6: supported ones", status.Application{SupportedVersions: []string{"1", "2"}}, `{}`, `{"versions":{"available":{"versions":[{"name":"1"},{"name":"2"}]}}}`},
		{"status 6: an empty list is written", status.Application{SupportedVersions: []string{}}, `{"versions":{"available":{"y":1}}}`, `{"versions":{"available":{"versions":[],"y":1}}}`},
		{"status 6: the operator's own", status.Application{OperatorVersion: "9"}, `{"operatorVersion":"8"}`, `{"operatorVersion":"9"}`},
		{
			"status 6: what is absent erases nothing", status.Application{},
			`{"versions":{"reconciled":"1","available":{"versions":[{"name":"1"}]}},"operatorVersion":"8"}`,
			`{"versions":{"reconciled":"1","available":{"versions":[{"name":"1"}]}},"operatorVersion":"8"}`,
		},
		{"status W11: versions of another shape", status.Application{Version: "1"}, `{"versions":"x"}`, `{"versions":{"reconciled":"1"}}`},
		{"status W11: null is as good as missing", status.Application{Version: "1"}, `{"versions":null}`, `{"versions":{"reconciled":"1"}}`},
		{
			"status W11: available of another shape", status.Application{SupportedVersions: []string{"1"}},
			`{"versions":{"reconciled":"1","available":["x"]}}`, `{"versions":{"reconciled":"1","available":{"versions":[{"name":"1"}]}}}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			next, _ := update(t, c.application, document(t, c.current))
			delete(next, "conditions")
			assert.JSONEq(t, c.want, text(t, next))
		})
	}
	for _, c := range []struct{ reason, current, want string }{
		{"status 11: the reconciled version", `{"versions":{"reconciled":"1"}}`, "1"},
		{"status 11: none", `{}`, ""},
		{"status W11: versions no map", `{"versions":"x"}`, ""},
		{"status W11: a version that is no text", `{"versions":{"reconciled":1}}`, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, status.ReconciledVersion(document(t, c.current)))
		})
	}
}

func TestServiceStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason   string
		ready    status.ReadyReason
		updating status.UpdatingReason
		want     string
	}{
		{"neither reason", "", "", "InProgress"},
		{"Ready absent", "", status.UpdatingErrored, "InProgress"},
		{"Updating absent", status.ReadyErrored, "", "InProgress"},
		{"both Stable", status.ReadyStable, status.UpdatingStable, "Completed"},
		{"waiting", status.ReadyStable, status.UpdatingVerifyWait, "InProgress"},
		{"on the way", status.ReadyInProgress, status.UpdatingStable, "InProgress"},
		{"initial", status.ReadyInitializing, status.UpdatingPreconditionWait, "InProgress"},
		{"Errored", status.ReadyErrored, status.UpdatingStable, "Failed"},
		{"ConfigError", status.ReadyConfigError, status.UpdatingVerifyWait, "Failed"},
		{"updating Errored", status.ReadyStable, status.UpdatingErrored, "Failed"},
		{"updating ClusterError", status.ReadyStable, status.UpdatingClusterError, "Failed"},
	} {
		t.Run("status 7: "+c.reason, func(t *testing.T) {
			t.Parallel()
			a := own(c.ready, c.updating)
			if c.ready == "" {
				a.Ready = status.ReadyVerdict{}
			}
			if c.updating == "" {
				a.Updating = status.UpdatingVerdict{}
			}
			a.Kind = "SampleService"
			next, _ := update(t, a, document(t, `{"sampleServiceStatus":"Failed"}`))
			assert.Equal(t, c.want, next["sampleServiceStatus"])
		})
	}
	for kind, key := range map[string]string{"SampleService": "sampleServiceStatus", "HTTPServer": "hTTPServerStatus", "W": "wStatus", "\u00c4mter": "\u00e4mterStatus"} {
		t.Run("status 7: the field of "+kind, func(t *testing.T) {
			t.Parallel()
			next, _ := update(t, status.Application{Kind: kind}, nil)
			assert.Equal(t, "InProgress", next[key])
		})
	}
	for _, foreign := range []any{"Custom", object{"a": int64(1)}, int64(3), true} {
		t.Run("status 7: a value of the service's own stays", func(t *testing.T) {
			t.Parallel()
			a := own(status.ReadyStable, status.UpdatingStable)
			a.Kind = "Widget"
			next, _ := update(t, a, object{"widgetStatus": foreign})
			assert.Equal(t, foreign, next["widgetStatus"])
		})
	}
	t.Run("status 7: it follows the reasons that were carried over", func(t *testing.T) {
		t.Parallel()
		current, _ := update(t, own(status.ReadyStable, status.UpdatingVerifyWait), nil)
		next, _ := update(t, status.Application{Kind: "Widget", Updating: status.UpdatingVerdict{Reason: status.UpdatingStable}}, current)
		assert.Equal(t, "Completed", next["widgetStatus"])
	})
}

func TestChanged(t *testing.T) {
	t.Parallel()
	doc := func(text string) any {
		if text == "" {
			return nil
		}
		return document(t, `{"v":`+text+`}`)["v"]
	}
	for _, c := range []struct {
		reason, before, after string
		want                  bool
	}{
		{"status 9: equal", `{"a":{"b":[1,"x",null,true]}}`, `{"a":{"b":[1,"x",null,true]}}`, false},
		{"status 9: two empty ones", `{}`, `{}`, false},
		{"status 9: nothing against a map", ``, `{}`, true},
		{"status 9: two that are no maps", ``, ``, true},
		{"status 9: a list", `{}`, `[]`, true},
		{"status 9: a value", `{"a":1}`, `{"a":2}`, true},
		{"status 9: a type", `{"a":1}`, `{"a":"1"}`, true},
		{"status 9: an integer and a float", `{"a":1}`, `{"a":1.5}`, true},
		{"status 9: null and missing", `{"a":null}`, `{}`, true},
		{"status 9: null and missing, other keys as many", `{"a":null}`, `{"b":null}`, true},
		{"status 9: lengths of lists", `{"a":[1]}`, `{"a":[1,1]}`, true},
		{"status 9: a list and a map", `{"a":[]}`, `{"a":{}}`, true},
		{"status 9: a null element", `{"conditions":[null]}`, `{"conditions":[]}`, true},
		{"status 9: conditions that are no list", `{"conditions":"x"}`, `{"conditions":[]}`, true},
		{"status 9: the same conditions that are no list", `{"conditions":"x"}`, `{"conditions":"x"}`, false},
		{"status 9: missing and empty conditions", `{}`, `{"conditions":[]}`, true},
		{"status 9: the old time, at any depth", `{"a":[{"lastTransactionTime":"1","b":1}]}`, `{"a":[{"lastTransactionTime":"2","b":1}]}`, false},
		{"status 9: the old time, gone", `{"conditions":[{"type":"X","lastTransactionTime":"1"}]}`, `{"conditions":[{"type":"X"}]}`, false},
		{"status W8: the order of conditions", `{"conditions":[{"type":"A","n":1},{"type":"B"}]}`, `{"conditions":[{"type":"B"},{"type":"A","n":1}]}`, false},
		{"status W8: the order, and a difference", `{"conditions":[{"type":"A","n":1},{"type":"B"}]}`, `{"conditions":[{"type":"B"},{"type":"A","n":2}]}`, true},
		{"status W8: another type", `{"conditions":[{"type":"A"},{"type":"B"}]}`, `{"conditions":[{"type":"B"},{"type":"B"}]}`, true},
		{"status W8: the transition time of an own condition", `{"conditions":[{"type":"Ready","lastTransitionTime":"1"}]}`, `{"conditions":[{"type":"Ready","lastTransitionTime":"2"}]}`, false},
		{"status W8: a transition time that an own condition lacked", `{"conditions":[{"type":"Stalled","lastTransactionTime":"1"}]}`, `{"conditions":[{"type":"Stalled","lastTransitionTime":"2"}]}`, false},
		{"status W8: the transition time of somebody else's condition", `{"conditions":[{"type":"X","lastTransitionTime":"1"}]}`, `{"conditions":[{"type":"X","lastTransitionTime":"2"}]}`, true},
		{"status W8: the order of other lists matters", `{"a":[1,2]}`, `{"a":[2,1]}`, true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, status.Changed(doc(c.before), doc(c.after)))
			assert.Equal(t, c.want, status.Changed(doc(c.after), doc(c.before)), "the other way round")
		})
	}
	t.Run("values that JSON doesn't know", func(t *testing.T) {
		t.Parallel()
		assert.False(t, status.Changed(object{"a": []string{"x"}}, object{"a": []string{"x"}}))
		assert.True(t, status.Changed(object{"a": []string{"x"}}, object{"a": []any{"x"}}))
		require.NotPanics(t, func() { status.Changed(object{"a": "x"}, object{"a": []string{"x"}}) })
	})
}
