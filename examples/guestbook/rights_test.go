package main

import (
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// reviews is the resource by which the operator asks for its rights.
const reviews = "selfsubjectaccessreviews.authorization.k8s.io"

func may(group, resources, verbs string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: strings.Fields(resources), Verbs: strings.Fields(verbs)}
}

// paste gives the operator a Role with rules as a message has them.
func (w *world) paste(message string) {
	w.t.Helper()
	_, text, found := strings.Cut(message, "Role in the namespace "+w.Namespace+": ")
	require.True(w.t, found, message)
	text, _, _ = strings.Cut(text, "]: ") // behind the rules stands what was refused
	var role rbacv1.Role
	require.NoError(w.t, yaml.UnmarshalStrict([]byte(strings.TrimSuffix(text, "]")+"]"), &role), text)
	role.TypeMeta = metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"}
	role.Name = "pasted"
	w.Apply(unstructuredOf(w.t, &role))
	w.Apply(unstructuredOf(w.t, &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: "pasted"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "pasted"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: w.operator.Name}},
	}))
}

func unstructuredOf(t *testing.T, obj runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	return &unstructured.Unstructured{Object: content}
}

// TestMissingRights runs the operator as a user with an incomplete role: all rules that are missing come in one message,
// which makes a complete role.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	w := newWorldFor(t, envtest.InNamespace(
		may("examples.operkit.dev", "guestbooks", "get list watch patch"), may("examples.operkit.dev", "guestbooks/status", "patch"),
		may("", "configmaps", "get list watch"), may("", "services", "get list watch create patch delete"),
		may("apps", "statefulsets", "get list watch create patch"), may("events.k8s.io", "events", "create patch"),
		may("operkit.dev", "temporarypatches", "get list watch patch"), may("operkit.dev", "temporarypatches/status", "patch"),
	), envtest.CRDs("config/crd"))
	p := w.start()
	w.create()
	want := "rights are missing: add to the Role in the namespace " + w.Namespace + ": rules: [" +
		"{apiGroups: [''], resources: [configmaps], verbs: [create, patch, delete]}, " +
		"{apiGroups: [''], resources: [secrets], verbs: [get, list, watch, create, patch, delete]}, " +
		"{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, create, patch, delete]}, " +
		"{apiGroups: [apps], resources: [statefulsets], verbs: [delete]}, " +
		"{apiGroups: [examples.operkit.dev], resources: [guestbooks/finalizers], verbs: [update]}]: "
	var message string
	w.Eventually("the condition has all rules", func() bool {
		_, message, _ = w.condition(status.ConditionUpdating)
		return strings.HasPrefix(message, want)
	})
	assert.Contains(t, message, "component redis: build: secrets: not allowed to list and watch secrets", "and then what was refused")
	w.Eventually("the log has them", func() bool { return strings.Contains(p.Output(), want) })
	shown := program.Run(t, program.Command("status", "hello", "--namespace", w.Namespace, "--kubeconfig", w.config)).Stdout
	assert.Contains(t, shown, want, "and the command status")
	asked := w.Calls(t, w.operator).Of(reviews)
	const own, kinds, patches = 4 + 1 + 1, 5 * 6, 5 // those for temporary patches are asked for at the start
	assert.LessOrEqual(t, len(asked), own+kinds+patches, "rights 3: each right is asked for once: %s", asked)

	w.paste(message)
	w.settled()
	mark := w.Mark(t)
	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"message":"Hello again!"}}`)
	w.settled()
	w.Delete(v1.GuestbookKind, "hello")
	w.Eventually("it is gone", func() bool { return w.Get(v1.GuestbookKind, "hello") == nil })
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Of(reviews), "rights 3: as long as nothing is refused, nothing is asked")
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Forbidden(), "nothing else is missing")
}

// TestMissingRightsAtTheStart: a kind of the operator can't be watched, so no resource can have a condition.
func TestMissingRightsAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorldFor(t, envtest.InNamespace(may("examples.operkit.dev", "guestbooks", "get patch")), envtest.CRDs("config/crd"))
	w.create()
	p := w.start()
	const message = `msg="rights are missing: add these rules to the role of the operator"`
	w.Eventually("the log has all rules", func() bool { return strings.Contains(p.Output(), message) })
	assert.Contains(t, p.Output(), `rules="Role in the namespace `+w.Namespace+": rules: ["+
		"{apiGroups: [examples.operkit.dev], resources: [guestbooks], verbs: [list, watch]}, "+
		"{apiGroups: [examples.operkit.dev], resources: [guestbooks/finalizers], verbs: [update]}, "+
		`{apiGroups: [examples.operkit.dev], resources: [guestbooks/status], verbs: [patch]}]"`)
	assert.Equal(t, 1, strings.Count(p.Output(), message), "once")
}
