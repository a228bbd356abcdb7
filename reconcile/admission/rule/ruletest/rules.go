package ruletest

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Rules are compiled rules for a Go test: those of a Definition or of a Policy.
type Rules struct {
	layer interface {
		Create(object any) (Verdict, error)
		Update(before, object any) (Verdict, error)
	}
}

// New compiles a definition with the rules of a set, see CompileDefinition. A mistake ends the test. Rules that cost
// more than half of the limit are logged.
func New(t testing.TB, set rule.Set, definition *unstructured.Unstructured, opts ...Option) *Rules {
	t.Helper()
	compiled, err := CompileDefinition(set, definition, opts...)
	if err != nil {
		t.Fatal(err)
		return nil
	}
	for _, cost := range compiled.Costs() {
		if cost.Share() > 0.5 {
			t.Logf("%s: %s", cost, cost.Advice)
		}
	}
	return &Rules{layer: compiled}
}

// FromFile is New for the definition in a file of YAML or JSON.
func FromFile(t testing.TB, set rule.Set, file string, opts ...Option) *Rules {
	t.Helper()
	definition, err := Read(file)
	if err != nil {
		t.Fatal(err)
		return nil
	}
	return New(t, set, definition, opts...)
}

// NewPolicy compiles the policy with the rules of a set, see CompilePolicy. A mistake ends the test.
func NewPolicy(t testing.TB, set rule.Set, policy rule.Policy, opts ...Option) *Rules {
	t.Helper()
	compiled, err := CompilePolicy(set, policy, opts...)
	if err != nil {
		t.Fatal(err)
		return nil
	}
	return &Rules{layer: compiled}
}

// AcceptsCreate fails the test if the API server would refuse to create an object, or would find a rule broken. The
// object is an Unstructured, a map or a typed object with apiVersion and kind.
func (r *Rules) AcceptsCreate(t testing.TB, object any) {
	t.Helper()
	verdict, err := r.layer.Create(object)
	accepts(t, verdict, err)
}

// AcceptsUpdate fails the test if the API server would refuse an update, or would find a rule broken.
func (r *Rules) AcceptsUpdate(t testing.TB, before, object any) {
	t.Helper()
	verdict, err := r.layer.Update(before, object)
	accepts(t, verdict, err)
}

// RefusesCreate fails the test unless the API server would find exactly these rules broken when an object is created:
// one of texts is part of the field and the message of each broken rule, such as "spec.size: a shop can't shrink", and
// each text is found.
func (r *Rules) RefusesCreate(t testing.TB, object any, texts ...string) {
	t.Helper()
	verdict, err := r.layer.Create(object)
	refuses(t, verdict, err, texts)
}

// RefusesUpdate fails the test unless the API server would find exactly these rules broken by an update, as
// RefusesCreate.
func (r *Rules) RefusesUpdate(t testing.TB, before, object any, texts ...string) {
	t.Helper()
	verdict, err := r.layer.Update(before, object)
	refuses(t, verdict, err, texts)
}

// accepts fails a test unless a verdict finds nothing.
func accepts(t testing.TB, verdict Verdict, err error) {
	t.Helper()
	for _, text := range verdict.Warnings {
		t.Log("warning: " + text)
	}
	switch {
	case err != nil:
		t.Error(err)
	case len(verdict.lines()) > 0 || len(verdict.Ignored) > 0:
		t.Errorf("the object should break no rule, but it is %s", verdict)
	}
}

// refuses fails a test unless a verdict has these texts.
func refuses(t testing.TB, verdict Verdict, err error, texts []string) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return
	}
	if len(texts) == 0 {
		t.Error("no text: pass a part of the message of each rule that should be broken")
		return
	}
	lines := verdict.lines()
	for _, text := range texts {
		if !anyHas(lines, text) {
			t.Errorf("no broken rule has the text %q, the object is %s", text, verdict)
		}
	}
	for _, line := range lines {
		if !hasAny(line, texts) {
			t.Errorf("this rule should hold: %s", line)
		}
	}
}

func anyHas(lines []string, text string) bool {
	for _, line := range lines {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

func hasAny(line string, texts []string) bool {
	for _, text := range texts {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}
