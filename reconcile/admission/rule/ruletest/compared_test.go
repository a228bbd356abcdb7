package ruletest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The rules of the first kind are in its definition, those of the second one in two policies: one warns of all rules,
// the other one denies.
var (
	ruled   = schema.GroupVersionKind{Group: "ruletest.example.com", Version: "v1", Kind: "Ruled"}
	policed = schema.GroupVersionKind{Group: "ruletest.example.com", Version: "v1", Kind: "Policed"}
)

func TestCompared(t *testing.T) {
	t.Run("ruletest 1: the verdict on 500 objects and 40 rules is that of the API server, in both layers, for creations and updates", func(t *testing.T) {
		set := compared()
		require.Len(t, set, 40)
		w := newWorld(t)
		random := rand.New(rand.NewPCG(3, 4))
		stored := map[schema.GroupVersionKind][]*unstructured.Unstructured{}
		for i := range 50 {
			spec := specOf(random)
			if delete(spec, "text"); w.store(i, spec) {
				for _, kind := range []schema.GroupVersionKind{ruled, policed} {
					stored[kind] = append(stored[kind], w.get(kind, fmt.Sprintf("s%d", i)))
				}
			}
		}
		require.Greater(t, len(stored[ruled]), 30)
		w.enforce(set)

		definition, err := ruletest.CompileDefinition(set, definitionOf(t, ruled))
		require.NoError(t, err)
		policies := w.policies(set)
		seen := map[string]int{}
		equal, differing := 0, 0
		compare := func(what string, got, want answer) {
			if assert.ObjectsAreEqual(want, got) {
				equal++
			} else if differing++; differing < 4 {
				assert.Equal(t, want, got, what)
			}
		}
		for i := range 500 {
			object := w.object(ruled, fmt.Sprintf("o%d", i), specOf(random))
			verdict, err := definition.Create(object)
			require.NoError(t, err)
			compare(fmt.Sprintf("creation of %v", object), answerOf(verdict), w.ask(nil, object))
			count(seen, verdict)
			object = w.as(policed, object)
			compare(fmt.Sprintf("policed creation of %v", object), w.verdicts(seen, policies, nil, object), w.ask(nil, object))

			before := stored[ruled][i%len(stored[ruled])]
			spec, _ := before.Object["spec"].(map[string]any)
			object = w.object(ruled, before.GetName(), changed(random, spec))
			object.SetResourceVersion(before.GetResourceVersion())
			verdict, err = definition.Update(before, object)
			require.NoError(t, err)
			compare(fmt.Sprintf("update of %v to %v", before, object), answerOf(verdict), w.ask(before, object))
			count(seen, verdict)
			before = stored[policed][i%len(stored[policed])]
			object = w.as(policed, object)
			object.SetResourceVersion(before.GetResourceVersion())
			compare(fmt.Sprintf("policed update of %v to %v", before, object), w.verdicts(seen, policies, before, object), w.ask(before, object))
		}
		t.Logf("RULES objects=500 rules=%d equal=%d differing=%d", len(set), equal, differing)
		assert.Zero(t, differing)
		for i, r := range set[1:] {
			assert.Positive(t, seen[r.CEL], "rule %d is broken at least once: %s", i+1, r.CEL)
		}
		assert.Positive(t, seen["failed"])
		assert.Positive(t, seen["warned"])
		assert.Positive(t, seen["accepted"])
		assert.Positive(t, seen["invalid"])
	})
}

// count counts what verdicts find.
func count(seen map[string]int, verdict ruletest.Verdict) {
	for _, one := range verdict.Broken {
		if one.Rule != nil {
			seen[one.Rule.CEL]++
		}
		if one.Failed {
			seen["failed"]++
		}
	}
	seen["warned"] += len(verdict.Warnings)
	seen["invalid"] += len(verdict.Invalid)
	if verdict.Accepted {
		seen["accepted"]++
	}
}

// answer is what the API server answers to a request.
type answer struct {
	Accepted bool
	// Causes are the sorted reasons and texts of a refusal.
	Causes []string
	// Warnings are sorted, and shortened as the API server does.
	Warnings []string
	// Denied is the text of a policy that denies.
	Denied string
}

// answerOf returns the verdict of a definition in the form of an answer.
func answerOf(verdict ruletest.Verdict) answer {
	a := answer{Accepted: verdict.Accepted}
	for _, one := range verdict.Broken {
		a.Causes = append(a.Causes, one.Reason+" "+one.Text)
	}
	for _, one := range verdict.Invalid {
		a.Causes = append(a.Causes, string(one.Type)+" "+one.Error())
	}
	slices.Sort(a.Causes)
	a.Warnings = shortened(verdict.Warnings)
	return a
}

// verdicts returns the verdicts of the two policies in the form of an answer.
func (w *world) verdicts(seen map[string]int, policies []*ruletest.Policy, before, object *unstructured.Unstructured) answer {
	var warnings []string
	a := answer{Accepted: true}
	for i, policy := range policies {
		var verdict ruletest.Verdict
		var err error
		if before == nil {
			verdict, err = policy.Create(object)
		} else {
			verdict, err = policy.Update(before, object)
		}
		require.NoError(w.t, err)
		count(seen, verdict)
		if len(verdict.Invalid) > 0 {
			return answerOf(verdict)
		}
		if i == 0 {
			warnings = append(warnings, verdict.Warnings...)
		}
		name := w.policyName(i)
		for _, one := range verdict.Broken {
			if i == 0 {
				require.True(w.t, verdict.Accepted, "the policy only warns")
				warnings = append(warnings, fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", name, name, one.Text))
			}
		}
		if i == 1 && !verdict.Accepted {
			a.Accepted, a.Denied = false, fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", name, name, verdict.Broken[0].Text)
		}
	}
	a.Warnings = shortened(warnings)
	return a
}

// shortened returns sorted warnings as the API server sends them: each once, and if all together have more than 4096
// characters, each cut.
func shortened(warnings []string) []string {
	var result []string
	for _, one := range warnings {
		result = append(result, strings.TrimSpace(one[:min(len(one), 250)]))
	}
	slices.Sort(result)
	return slices.Compact(result)
}

// ask sends a request as a dry run, and returns the API server's answer.
func (w *world) ask(before, object *unstructured.Unstructured) answer {
	w.warnings.take()
	err := w.send(before, object)
	a := answer{Accepted: err == nil}
	a.Warnings = shortened(w.warnings.take())
	if err == nil {
		return a
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	require.True(w.t, ok && status.ErrStatus.Details != nil, "%v", err)
	if _, text, found := strings.Cut(status.ErrStatus.Message, "is forbidden: "); found {
		a.Denied = text
		return a
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		a.Causes = append(a.Causes, string(cause.Type)+" "+cause.Field+": "+cause.Message)
	}
	slices.Sort(a.Causes)
	return a
}
