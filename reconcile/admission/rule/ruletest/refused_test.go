package ruletest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
)

func TestRefused(t *testing.T) {
	env := envtest.Start(t)
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	for _, r := range []rule.Rule{
		{Path: "spec.size", CEL: "self > 1"},
		{Path: "spec.size", CEL: "sel > 1"},
		{Path: "spec.size", CEL: "self > 'a'"},
		{Path: "spec.size", CEL: "self + 1"},
		{Path: "spec.size", CEL: "self >"},
		{Path: "spec", CEL: "self.sise > 1"},
		{Path: "spec", CEL: "self.note == null"},
		{Path: "spec.size", CEL: "self > 1", MessageCEL: "1"},
		{Path: "spec.size", CEL: "self > 1", MessageCEL: "string(self)"},
		{Path: "spec.texts", CEL: "self.all(a, self.exists_one(b, a == b))"},
		{Path: "spec.texts[*]", CEL: "self.contains(self)"},
		{Path: "spec.numbers", CEL: "self.all(a, self.all(b, a + b >= 0))"},
		{Path: "spec.numbers", CEL: "self.all(a, self.all(b, self.all(c, a + b > c)))"},
		{Path: "spec.numbers", CEL: "self.all(a, self.all(b, a + b >= 0 && a * b >= 0))"},
		{Path: "spec.ports[*]", CEL: "self == oldSelf"},
		{Path: "spec.mode", CEL: "self.matches('[')"},
		{Path: "spec.note", CEL: "isSemver(self) && !format.dns1123Label().validate(self).hasValue()"},
		{Path: "spec.mode", CEL: "authorizer.path('/').check('get').allowed()"},
		{Path: "spec.mode", CEL: "variables.a == self"},
		{Path: "spec.mode", CEL: "request.operation == 'CREATE'"},
	} {
		r.Message = "m"
		if r.MessageCEL != "" {
			r.Message = ""
		}
		set := rule.Set{r}
		t.Run("ruletest 2, 3: a definition is refused as by the API server: "+r.CEL, func(t *testing.T) {
			_, got := ruletest.CompileDefinition(set, shopsDefinition(t))
			definition, err := set.AddTo(shopsDefinition(t))
			require.NoError(t, err)
			_, err = client.Resource(definitions).Create(t.Context(), definition, dry)
			same(t, err, got)
		})
		t.Run("ruletest 5: a policy is refused as by the API server: "+r.CEL, func(t *testing.T) {
			_, got := ruletest.CompilePolicy(set, shops)
			policy, _, err := set.Policy(shops)
			if err != nil {
				assert.EqualError(t, got, err.Error(), "package rule refuses it")
				return
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(policy)
			require.NoError(t, err)
			_, err = client.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource("validatingadmissionpolicies")).
				Create(t.Context(), &unstructured.Unstructured{Object: content}, dry)
			same(t, err, got)
		})
	}
}

// detail finds what follows the rule in an error.
var detail = regexp.MustCompile(`(?m)^(?:\w+ \S+: )?rule 1: .*?\): (.*)$`)

// same compares the error of the API server with one of ours: both are nil, or it has what ours says about the rule.
func same(t *testing.T, server, ours error) {
	t.Helper()
	if server == nil {
		assert.NoError(t, ours)
		return
	}
	require.Error(t, ours, "the API server refuses it: %v", server)
	details := detail.FindAllStringSubmatch(ours.Error(), -1)
	require.NotEmpty(t, details, ours.Error())
	for _, one := range details {
		text, _, _ := strings.Cut(one[1], ": it is ")
		if i := strings.LastIndex(text, "): "); i >= 0 {
			text = text[i+len("): "):]
		}
		assert.Contains(t, server.Error(), text, fmt.Sprint(ours))
	}
}
