package ruletest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCauses(t *testing.T) {
	t.Parallel()
	t.Run("ruletest 9: rules with the same message are told apart, and those of the definition are found, too", func(t *testing.T) {
		t.Parallel()
		ruled, err := rule.Set{{Path: "spec.size", CEL: "self != 4", Message: "own"}}.AddTo(shopsDefinition(t))
		require.NoError(t, err)
		definition, err := ruletest.CompileDefinition(rule.Set{
			{Path: "spec.size", CEL: "self > 5", Message: "m"},
			{Path: "spec.size", CEL: "self > 2", Message: "m"},
			{Path: "spec.size", CEL: "self > 6", Message: "m"},
		}, ruled)
		require.NoError(t, err)
		verdict, err := definition.Create(shop(map[string]any{"size": 4}))
		require.NoError(t, err)
		assert.False(t, verdict.Accepted)
		var found []string
		for _, broken := range verdict.Broken {
			found = append(found, broken.Rule.CEL)
			assert.Equal(t, "FieldValueInvalid", broken.Reason)
			assert.Equal(t, "spec.size", broken.Field)
			assert.False(t, broken.Failed)
		}
		assert.ElementsMatch(t, []string{"self != 4", "self > 5", "self > 6"}, found)
		assert.Empty(t, verdict.Invalid)
	})
	t.Run("ruletest 9: a mistake of the schema isn't one of a rule, and then rules aren't checked", func(t *testing.T) {
		t.Parallel()
		definition := compiled(t, rule.Set{{Path: "spec.size", CEL: "self > 5", Message: "m"}})
		verdict, err := definition.Create(shop(map[string]any{"size": 1, "mode": "odd"}))
		require.NoError(t, err)
		assert.Empty(t, verdict.Broken)
		assert.Len(t, verdict.Invalid, 2)
		assert.Contains(t, verdict.String(), "refused:\n  spec.mode: Unsupported value: \"odd\"")
	})
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	long := func(n int) any { return shop(map[string]any{"text": strings.Repeat("-", n)}) }
	heavy := rule.Rule{Path: "spec.text", CEL: without("self"), Message: "m"}
	second := rule.Rule{Path: "spec.text", CEL: "self == ''", Message: "second"}
	policy := policyOf(t, rule.Set{heavy, second})
	t.Run("ruletest 6: beyond the limit of a call a definition checks no more, and a policy goes on", func(t *testing.T) {
		t.Parallel()
		verdict, err := compiled(t, rule.Set{heavy, second}).Create(long(400000))
		require.NoError(t, err)
		require.Len(t, verdict.Broken, 1)
		assert.True(t, verdict.Broken[0].Failed)
		assert.Equal(t, heavy.CEL, verdict.Broken[0].Rule.CEL)
		assert.Contains(t, verdict.Broken[0].Message, "actual cost limit exceeded")
		assert.EqualValues(t, ruletest.Budget, verdict.Cost)

		verdict, err = policy.Create(long(400000))
		require.NoError(t, err)
		require.Len(t, verdict.Broken, 2)
		assert.True(t, verdict.Broken[0].Failed)
		assert.Equal(t, "spec.text: second", verdict.Broken[1].String())
		assert.Greater(t, verdict.Cost, int64(ruletest.CallLimit))
		assert.Less(t, verdict.Cost, int64(ruletest.Budget))
	})
	t.Run("ruletest 6: the cost grows with the object, in both layers", func(t *testing.T) {
		t.Parallel()
		for name, layer := range map[string]creator{"definition": compiled(t, rule.Set{heavy}), "policy": policyOf(t, rule.Set{heavy})} {
			var costs []int64
			for _, n := range []int{1, 1000, 100000} {
				verdict, err := layer.Create(long(n))
				require.NoError(t, err, name)
				assert.True(t, verdict.Accepted, name)
				costs = append(costs, verdict.Cost)
			}
			assert.Positive(t, costs[0], name)
			assert.Greater(t, costs[1], 10*costs[0], name)
			assert.Greater(t, costs[2], 50*costs[1], name)
		}
	})
	t.Run("ruletest 6: beyond the budget of an object it is refused, and no single rule is the cause", func(t *testing.T) {
		t.Parallel()
		var set rule.Set
		for i := range 15 {
			set = append(set, rule.Rule{Path: "spec.text", CEL: fmt.Sprintf("self == '%d' || %s", i, heavy.CEL), Message: "m"})
		}
		for name, layer := range map[string]creator{"definition": compiled(t, set), "policy": policyOf(t, set)} {
			few, err := layer.Create(long(1000))
			require.NoError(t, err, name)
			assert.True(t, few.Accepted, name)
			verdict, err := layer.Create(long(300000))
			require.NoError(t, err, name)
			assert.False(t, verdict.Accepted, name)
			require.Len(t, verdict.Broken, 1, name)
			assert.Nil(t, verdict.Broken[0].Rule, name)
			assert.Contains(t, verdict.Broken[0].Message, "running out of cost budget", name)
			assert.EqualValues(t, ruletest.Budget, verdict.Cost, name)
		}
	})
}

// creator is a definition or a policy.
type creator interface {
	Create(object any) (ruletest.Verdict, error)
}

func policyOf(t *testing.T, set rule.Set) *ruletest.Policy {
	t.Helper()
	policy, err := ruletest.CompilePolicy(set, shops)
	require.NoError(t, err)
	return policy
}

func TestStatus(t *testing.T) {
	t.Parallel()
	definition := compiled(t, rule.Set{
		{Path: "status.ready", CEL: "self >= 0", Message: "at least 0"},
		{Path: "spec.size", CEL: "self > 0", Message: "positive"},
	})
	with := func(size, ready int) map[string]any {
		object := shop(map[string]any{"size": size})
		object["status"] = map[string]any{"ready": ready}
		return object
	}
	for _, row := range []struct {
		reason string
		ask    func() (ruletest.Verdict, error)
		want   string
	}{
		{"the status of a new object is dropped", func() (ruletest.Verdict, error) { return definition.Create(with(1, -1)) }, "accepted"},
		{"an update doesn't change the status", func() (ruletest.Verdict, error) { return definition.Update(with(1, 1), with(2, -1)) }, "accepted"},
		{"a status is checked", func() (ruletest.Verdict, error) { return definition.UpdateStatus(with(1, 1), with(1, -1)) }, "refused:\n  status.ready: at least 0"},
		{"an update of the status doesn't change the spec", func() (ruletest.Verdict, error) { return definition.UpdateStatus(with(1, 1), with(-1, 2)) }, "accepted"},
	} {
		t.Run("ruletest 10: "+row.reason, func(t *testing.T) {
			t.Parallel()
			verdict, err := row.ask()
			require.NoError(t, err)
			assert.Equal(t, row.want, verdict.String())
		})
	}
	t.Run("ruletest 10: a kind without the subresource has no such update", func(t *testing.T) {
		t.Parallel()
		definition, err := ruletest.CompileDefinition(nil, definitionOf(t, ruled))
		require.NoError(t, err)
		object := map[string]any{"apiVersion": "ruletest.example.com/v1", "kind": "Ruled", "metadata": map[string]any{"name": "a"}}
		_, err = definition.UpdateStatus(object, object)
		assert.EqualError(t, err, "kind Ruled.ruletest.example.com: its status is no subresource: use Update")
	})
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		set    rule.Set
		opts   []ruletest.Option
		says   string
	}{
		{"an unknown name", rule.Set{{Path: "spec.size", CEL: "sel > 1", Message: "m"}}, nil, "policy shops: rule 1: spec.size (sel > 1): compilation failed: ERROR: <input>:1:"},
		{"a result that is no bool", rule.Set{{Path: "spec.size", CEL: "self + 1", Message: "m"}}, nil, "rule 1: spec.size (self + 1): "},
		{"a message that is no text", rule.Set{{Path: "spec.size", CEL: "self > 1", MessageCEL: "1"}}, nil, "rule 1: spec.size (self > 1): compilation failed"},
		{"what package rule refuses", rule.Set{{Path: "spec.ports[*]", CEL: "self == oldSelf", Message: "m"}}, nil, "a policy can't compare elements"},
		{"a definition of another kind", nil, []ruletest.Option{ruletest.Schema(definitionOf(t, ruled))}, "the definition is about Ruled.ruletest.example.com and has no example.com/v1, Kind=Shop"},
		{"a definition that is none", nil, []ruletest.Option{ruletest.Schema(definitionOf(t, policed)), ruletest.Kubernetes("x")}, "use a version"},
	} {
		t.Run("ruletest 5: "+row.reason+" is a mistake", func(t *testing.T) {
			t.Parallel()
			_, err := ruletest.CompilePolicy(row.set, shops, row.opts...)
			assert.ErrorContains(t, err, row.says)
		})
	}
	set := rule.Set{{Path: "spec.size", CEL: "10 / self > 2", Message: "m"}}
	labelled := func(size int) map[string]any {
		object := shop(map[string]any{"size": size})
		object["metadata"] = map[string]any{"name": "a", "labels": map[string]any{"rules": "on"}}
		return object
	}
	selected := shops
	selected.Objects = &metav1.LabelSelector{MatchLabels: map[string]string{"rules": "on"}}
	lax := shops
	lax.IgnoreFailures = true
	warning := shops
	warning.Actions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}
	for _, row := range []struct {
		reason         string
		policy         rule.Policy
		before, object map[string]any
		accepted       bool
		broken         int
		ignored        int
	}{
		{"an object that isn't selected", selected, nil, shop(map[string]any{"size": 9}), true, 0, 0},
		{"an object that is selected", selected, nil, labelled(9), false, 1, 0},
		{"an object that was selected before", selected, labelled(1), shop(map[string]any{"size": 9}), false, 1, 0},
		{"a rule that fails", shops, nil, shop(map[string]any{"size": 0}), false, 1, 0},
		{"a rule that fails and is ignored", lax, nil, shop(map[string]any{"size": 0}), true, 0, 1},
		{"a rule that is broken though failures are ignored", lax, nil, shop(map[string]any{"size": 9}), false, 1, 0},
		{"a warning", warning, nil, shop(map[string]any{"size": 9}), true, 1, 0},
	} {
		t.Run("ruletest 11: "+row.reason, func(t *testing.T) {
			t.Parallel()
			policy, err := ruletest.CompilePolicy(set, row.policy)
			require.NoError(t, err)
			verdict, err := policy.Create(row.object)
			if row.before != nil {
				verdict, err = policy.Update(row.before, row.object)
			}
			require.NoError(t, err)
			assert.Equal(t, row.accepted, verdict.Accepted)
			assert.Len(t, verdict.Broken, row.broken)
			assert.Len(t, verdict.Ignored, row.ignored)
		})
	}
}
