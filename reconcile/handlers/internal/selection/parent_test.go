package selection

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}

func ownedBy(references ...any) map[string]any {
	return map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "a", "ownerReferences": references}}
}

func reference(apiVersion, kind, name string, controls bool) any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "name": name, "controller": controls}
}

func TestParent(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		object map[string]any
		// want is the name of the parent, empty for none, and version its version.
		want, version string
	}{
		{"handlers 70: an object of the kind owns it", ownedBy(reference("apps/v1", "Deployment", "web", true)), "web", "v1"},
		{"handlers 70: in any version", ownedBy(reference("apps/v1beta1", "Deployment", "web", false)), "web", "v1beta1"},
		{"handlers 70: the one that controls it is the parent", ownedBy(reference("apps/v1", "Deployment", "a", false),
			reference("apps/v1", "Deployment", "b", true), reference("apps/v1", "Deployment", "c", false)), "b", "v1"},
		{"handlers 70: otherwise the first one", ownedBy(reference("apps/v1", "Deployment", "a", false), reference("apps/v1", "Deployment", "b", false)), "a", "v1"},
		{"handlers 70: another kind controls it, this one owns it", ownedBy(reference("v1", "Node", "n", true), reference("apps/v1", "Deployment", "a", false)), "a", "v1"},
		{"handlers 70: the same kind of another group", ownedBy(reference("example.dev/v1", "Deployment", "web", true)), "", ""},
		{"handlers 70: another kind", ownedBy(reference("apps/v1", "ReplicaSet", "web", true)), "", ""},
		{"handlers 70: a version that can't be read", ownedBy(reference("a/b/c", "Deployment", "web", true), "no reference"), "", ""},
		{"handlers 70: nobody owns it", map[string]any{}, "", ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			parent, ok := ParentOf(row.object, deployments)
			want := deploy.Ref{}
			if row.want != "" {
				want = deploy.Ref{Kind: deployments.WithVersion(row.version), Namespace: "shop", Name: row.want}
			}
			assert.Equal(t, want, parent)
			assert.Equal(t, row.want != "", ok)
			for _, on := range []On{Seen, Timer} {
				assert.Equal(t, ok, Called(Handler{On: on, Filter: Filter{Parent: deployments}}, Object{Body: row.object}), "the filter")
			}
			assert.Equal(t, ok, NeedsFinalizer(Handler{On: Delete, Filter: Filter{Parent: deployments}}, Object{Body: row.object}))
		})
	}
	t.Run("handlers 70: a parent of no kind is a mistake", func(t *testing.T) {
		t.Parallel()
		assert.ErrorContains(t, Filter{Parent: schema.GroupKind{Group: "apps"}}.Validate(Seen), `parent of the group "apps": names no kind`)
	})
}
