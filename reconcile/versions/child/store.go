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

// store is the cluster as the manager shows it: reads go there, writes are refused.
type store struct{ peer *wire.Peer }

type sessionContext struct{}

// withSession is ctx as that of a session's call.
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
