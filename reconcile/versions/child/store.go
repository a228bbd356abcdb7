package child

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// store is a deploy.Cluster that reads through the manager and refuses writes.
type store struct{ peer *wire.Peer }

type sessionContext struct{}

// withSession returns ctx for calls of a session.
func withSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionContext{}, id)
}

func sessionOf(ctx context.Context) string {
	id, _ := ctx.Value(sessionContext{}).(string)
	return id
}

// Port implements deploy.Cluster.
func (s *store) Port() deploy.Port { return port{s} }

// View implements deploy.Cluster.
func (s *store) View() deploy.View { return view{s} }

func (s *store) read(ctx context.Context, method string, r wire.Read) ([]*unstructured.Unstructured, error) {
	var found wire.Found
	r.Session = sessionOf(ctx)
	if err := s.peer.Call(ctx, method, r, &found); err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, len(found.Contents))
	for i, content := range found.Contents {
		objects[i] = &unstructured.Unstructured{Object: content}
	}
	return objects, nil
}

func one(found []*unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func textOf(selector fmt.Stringer, none bool) string {
	if none {
		return ""
	}
	return selector.String()
}

// view is the manager's view.
type view struct{ *store }

// Get implements deploy.View.
func (v view) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return one(v.read(ctx, wire.Get, wire.Read{Ref: *wire.NewRef(ref)}))
}

// List implements deploy.View.
func (v view) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return v.read(ctx, wire.List, wire.Read{Ref: *wire.NewRef(deploy.Ref{Kind: kind, Namespace: namespace}), Labels: textOf(selector, selector == nil)})
}

// Subscribe implements deploy.View.
func (v view) Subscribe(context.Context, schema.GroupVersionKind, func(deploy.Event)) (deploy.Subscription, error) {
	return nil, errors.New("a version that runs as a child can't subscribe to events: declare sources, or use Session.Follow")
}

// port is the manager's port, without its writes.
type port struct{ *store }

func refused(verb string, ref deploy.Ref) error {
	return fmt.Errorf("%s: can't be %s: a version that runs as a child can't write: add the object to a component", ref, verb)
}

// Scope implements deploy.Port.
func (p port) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	var scope string
	err := p.peer.Call(ctx, wire.Scope, wire.NewKind(kind), &scope)
	return deploy.Scope(scope), err
}

// Get implements deploy.Port.
func (p port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return one(p.read(ctx, wire.Get, wire.Read{Ref: *wire.NewRef(ref), Live: true}))
}

// List implements deploy.Port.
func (p port) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, o deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	return p.read(ctx, wire.List, wire.Read{
		Ref: *wire.NewRef(deploy.Ref{Kind: kind, Namespace: namespace}), Live: true, Labels: textOf(o.Labels, o.Labels == nil), Fields: textOf(o.Fields, o.Fields == nil),
	})
}

// Kinds implements deploy.Port.
func (p port) Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error) {
	var found []wire.Kind
	err := p.peer.Call(ctx, wire.Kinds, name, &found)
	return wire.GVKs(found), err
}

// Create implements deploy.Port.
func (p port) Create(_ context.Context, obj *unstructured.Unstructured, _ deploy.CreateOptions) (*unstructured.Unstructured, error) {
	return nil, refused("created", deploy.RefOf(obj))
}

// Update implements deploy.Port.
func (p port) Update(_ context.Context, obj *unstructured.Unstructured, _ deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	return nil, refused("updated", deploy.RefOf(obj))
}

// Apply implements deploy.Port.
func (p port) Apply(_ context.Context, obj *unstructured.Unstructured, _ deploy.ApplyOptions) (deploy.Applied, error) {
	return deploy.Applied{}, refused("applied", deploy.RefOf(obj))
}

// Patch implements deploy.Port.
func (p port) Patch(_ context.Context, ref deploy.Ref, _ deploy.PatchRequest) (*unstructured.Unstructured, error) {
	return nil, refused("patched", ref)
}

// Delete implements deploy.Port: the manager deletes an object that the resource of the session owns.
func (p port) Delete(ctx context.Context, ref deploy.Ref, o deploy.DeleteOptions) error {
	if o.DryRun {
		return nil
	}
	return p.peer.Call(ctx, wire.Delete, wire.Read{
		Session: sessionOf(ctx), Ref: *wire.NewRef(ref), UID: string(o.UID), Propagation: string(o.Propagation),
	}, nil)
}

// watcher is a source.Watcher that watches through the manager.
type watcher struct{ peer *wire.Peer }

// Own implements source.Watcher.
func (w *watcher) Own(ctx context.Context, _, child schema.GroupVersionKind) error {
	return w.peer.Call(ctx, wire.Own, wire.Read{Session: sessionOf(ctx), Ref: wire.Ref{Kind: wire.NewKind(child)}}, nil)
}

// Follow implements source.Watcher.
func (w *watcher) Follow(ctx context.Context, _ deploy.Ref, ref deploy.Ref) error {
	return w.peer.Call(ctx, wire.Follow, wire.Read{Session: sessionOf(ctx), Ref: *wire.NewRef(ref)}, nil)
}

// FollowAll implements source.Watcher.
func (w *watcher) FollowAll(ctx context.Context, _ deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error {
	return w.peer.Call(ctx, wire.Follow, wire.Read{
		Session: sessionOf(ctx), Ref: *wire.NewRef(deploy.Ref{Kind: kind, Namespace: namespace}), Labels: textOf(selector, selector == nil),
	}, nil)
}
