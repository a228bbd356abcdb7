package ruletest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	"github.com/stretchr/testify/assert"
)

// notes is a test that notes its mistakes and what it logs.
type notes struct {
	testing.TB
	mistakes, logged []string
}

func (n *notes) Helper()           {}
func (n *notes) Error(args ...any) { n.mistakes = append(n.mistakes, fmt.Sprint(args...)) }
func (n *notes) Errorf(format string, args ...any) {
	n.mistakes = append(n.mistakes, fmt.Sprintf(format, args...))
}
func (n *notes) Fatal(args ...any)               { n.Error(args...) }
func (n *notes) Log(args ...any)                 { n.logged = append(n.logged, fmt.Sprint(args...)) }
func (n *notes) Logf(format string, args ...any) { n.Log(fmt.Sprintf(format, args...)) }

func TestRules(t *testing.T) {
	t.Parallel()
	set := rule.Set{
		{Path: "spec.size", CEL: "self > 2", Message: "more than two"},
		{Path: "spec.size", CEL: "self % 2 == 0", Message: "even"},
	}
	lax := shops
	lax.IgnoreFailures = true
	failing := ruletest.NewPolicy(t, rule.Set{{Path: "spec.size", CEL: "10 / self > 1", Message: "m"}}, lax)
	good, odd, bad := shop(map[string]any{"size": 4}), shop(map[string]any{"size": 3}), shop(map[string]any{"size": 1})
	for layer, rules := range map[string]*ruletest.Rules{"a definition": ruletest.FromFile(t, set, shopsFile), "a policy": ruletest.NewPolicy(t, set, shops)} {
		for _, row := range []struct {
			reason string
			run    func(t testing.TB)
			says   []string
		}{
			{"an object that should be accepted and is", func(t testing.TB) { rules.AcceptsCreate(t, good); rules.AcceptsUpdate(t, bad, good) }, nil},
			{"an object that should be accepted and isn't", func(t testing.TB) { rules.AcceptsCreate(t, odd) }, []string{"should break no rule, but it is refused:\n  spec.size: even"}},
			{"an update that should be accepted and isn't", func(t testing.TB) { rules.AcceptsUpdate(t, good, odd) }, []string{"spec.size: even"}},
			{"both rules are named", func(t testing.TB) { rules.RefusesCreate(t, bad, "even", "spec.size: more than two") }, nil},
			{"one text for both", func(t testing.TB) { rules.RefusesCreate(t, bad, "spec.size: ") }, nil},
			{"a rule is left out", func(t testing.TB) { rules.RefusesUpdate(t, good, bad, "even") }, []string{"this rule should hold: spec.size: more than two"}},
			{"a rule isn't broken", func(t testing.TB) { rules.RefusesCreate(t, odd, "even", "more than two") }, []string{`no broken rule has the text "more than two"`}},
			{"none is broken", func(t testing.TB) { rules.RefusesCreate(t, good, "even") }, []string{`no broken rule has the text "even", the object is accepted`}},
			{"no text is named", func(t testing.TB) { rules.RefusesCreate(t, bad) }, []string{"no text: pass a part of the message"}},
			{"no object", func(t testing.TB) { rules.RefusesCreate(t, nil, "even"); rules.AcceptsCreate(t, nil) }, []string{"nil object", "nil object"}},
			{"a rule that fails and is ignored", func(t testing.TB) { failing.AcceptsCreate(t, shop(map[string]any{"size": 0})) }, []string{"ignored: spec.size: "}},
		} {
			t.Run("ruletest 7: in "+layer+": "+row.reason, func(t *testing.T) {
				t.Parallel()
				n := &notes{}
				row.run(n)
				if assert.Len(t, n.mistakes, len(row.says)) {
					for i, says := range row.says {
						assert.Contains(t, n.mistakes[i], says)
					}
				}
			})
		}
	}
	t.Run("ruletest 7: a mistake in rules ends the test, and a rule near its limit and an unknown field are logged", func(t *testing.T) {
		t.Parallel()
		n := &notes{}
		assert.Nil(t, ruletest.FromFile(n, set, "nowhere.yaml"))
		assert.Nil(t, ruletest.FromFile(n, rule.Set{{Path: "spec.size", CEL: "self", Message: "m"}}, shopsFile))
		assert.Nil(t, ruletest.NewPolicy(n, rule.Set{{Path: "spec.size", CEL: "self", Message: "m"}}, lax, ruletest.Kubernetes("x")))
		assert.Len(t, n.mistakes, 3)
		near := ruletest.FromFile(n, rule.Set{{Path: "spec.numbers", CEL: "self.all(a, self.all(b, a + b >= 0))", Message: "m"}}, shopsFile)
		near.AcceptsCreate(n, shop(map[string]any{"sise": 1}))
		assert.Len(t, n.mistakes, 3)
		logged := strings.Join(n.logged, "\n")
		assert.Contains(t, logged, "(56.7% of the limit): spec.numbers (self.all(a, self.all(b, a + b >= 0))): lower the limits")
		assert.Contains(t, logged, `warning: unknown field "spec.sise"`)
	})
}
