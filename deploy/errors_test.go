package deploy

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Each message puts its subject first.
func TestErrors(t *testing.T) {
	t.Parallel()
	reason := errors.New("reason")
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	ref := Ref{Kind: kind, Namespace: "shop", Name: "web"}
	node := Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Name: "first"}
	for _, test := range []struct {
		err     error
		says    string
		unwraps bool
	}{
		{&InvalidManifestError{Ref: ref, Reason: "no"}, "Deployment shop/web: invalid manifest: no", false},
		{&InvalidManifestError{Reason: "no"}, "object without kind and name: invalid manifest: no", false},
		{&InvalidManifestError{Ref: Ref{Name: "web"}, Reason: "no"}, `object "web" without kind: invalid manifest: no`, false},
		{&InvalidManifestError{Ref: Ref{Kind: kind}, Reason: "no"}, "Deployment without name: invalid manifest: no", false},
		{&KindUnknownError{Kind: kind}, "kind Deployment of apps/v1 is not served by the cluster: install its CustomResourceDefinition or correct apiVersion and kind", false},
		{&NotFoundError{Ref: ref}, "Deployment shop/web: not found", false},
		{&NotFoundError{Ref: node, Err: reason}, "Node first: not found: reason", true},
		{&ForbiddenError{Verb: "patch", Resource: schema.GroupResource{Group: "apps", Resource: "deployments"}, Namespace: "shop", Err: fmt.Errorf(`User "x" cannot patch resource "deployments": %w`, reason)},
			`deployments.apps: not allowed to patch deployments.apps in namespace shop: grant it by RBAC: User "x" cannot patch resource "deployments": reason`, true},
		{&ForbiddenError{Verb: "list", Resource: schema.GroupResource{Resource: "nodes"}, Err: fmt.Errorf(`User "x" cannot list resource "nodes": %w`, reason)},
			`nodes: not allowed to list nodes at cluster scope: grant it by RBAC: User "x" cannot list resource "nodes": reason`, true},
		{&ForbiddenError{Verb: "patch", Resource: schema.GroupResource{Resource: "pods"}, Namespace: "shop", Err: reason},
			"pods: patch in namespace shop was refused: reason", true},
		{&ConflictError{Ref: ref, Fields: []FieldConflict{{".a", "x", "with x"}, {".b", "y", "with y"}}, Err: reason},
			"Deployment shop/web: fields belong to another manager: .a (with x), .b (with y): leave them out of the manifest, or take them over by the option deploy.Conflicts", true},
		{&AmbiguousKindError{Name: "event", Candidates: []schema.GroupVersionKind{{Version: "v1", Kind: "Event"}, {Group: "events.k8s.io", Version: "v1", Kind: "Event"}}},
			`kind "event" is ambiguous: name the apiVersion of one of Event of v1, Event of events.k8s.io/v1`, false},
		{&AlreadyExistsError{Ref: ref, Err: reason}, "Deployment shop/web: exists already: reason", true},
		{&TimeoutError{Ref: ref, Reason: "waiting for its deletion, which x holds up", Err: reason},
			"Deployment shop/web: not in time: waiting for its deletion, which x holds up: reason", true},
		{&StaleError{Ref: ref, Err: reason}, "Deployment shop/web: changed since it was read: reason", true},
		{&InvalidError{Ref: ref, Err: reason}, "Deployment shop/web: refused: reason", true},
		{&UnavailableError{RetryAfter: time.Second, Err: reason}, "API server unavailable: reason", true},
		{&OwnedError{Ref: ref}, "Deployment shop/web: exists already and was not created for this owner: delete it, rename our object, or allow its adoption by the option deploy.Adopt", false},
		{&OwnedError{Ref: ref, Owner: "Cart c"}, "Deployment shop/web: belongs to Cart c already: rename our object, or delete the existing one", false},
		{&OwnedError{Ref: ref, Deletion: true}, "Deployment shop/web: isn't ours to delete: to delete it anyway, use kubectl or the option deploy.EvenForeign", false},
		{&OwnedError{Ref: ref, Owner: "Cart c", Deletion: true},
			"Deployment shop/web: belongs to Cart c and isn't ours to delete: to delete it anyway, use kubectl or the option deploy.EvenForeign", false},
		{&TerminatingError{Ref: ref}, "Deployment shop/web: is being deleted; it is applied again once it is gone", false},
		{&TerminatingError{Ref: ref, Finalizers: []string{"a", "b"}}, "Deployment shop/web: is being deleted and waits for a, b; it is applied again once it is gone", false},
	} {
		require.EqualError(t, test.err, test.says)
		assert.Equal(t, test.unwraps, errors.Is(test.err, reason), test.says)
	}
}

func TestRefString(t *testing.T) {
	t.Parallel()
	kind := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Guestbook"}
	assert.Equal(t, "Guestbook shop/hello", Ref{Kind: kind, Namespace: "shop", Name: "hello"}.String())
	assert.Equal(t, "Guestbook hello", Ref{Kind: kind, Name: "hello"}.String(), "cluster-scoped")
}

func TestManagerOf(t *testing.T) {
	t.Parallel()
	for message, manager := range map[string]string{
		`conflict with "kubectl-client-side-apply" using apps/v1`:           "kubectl-client-side-apply",
		`conflict with "hpa" with subresource "scale" using apps/v1`:        "hpa",
		`conflict with "a \"quoted\" one" using v1 at 2024-01-01T00:00:00Z`: `a "quoted" one`,
		`conflict with "cut off`: "",
		`conflict`:               "",
		``:                       "",
	} {
		assert.Equal(t, manager, ManagerOf(message), message)
	}
}
