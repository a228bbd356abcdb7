package envtest

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/tools/envtest/audit"
)

// Calls are requests that the API server answered, in the order of the audit log, with filters and counts.
type Calls = audit.Calls

// Mark is a moment in the API server's audit log.
type Mark struct {
	at audit.Position
}

// Mark returns the present moment. All requests that have been answered already are before the mark.
func (e *Env) Mark(t testing.TB) Mark {
	t.Helper()
	return Mark{at: e.flush(t)}
}

// Calls returns the requests that the given users of this test have sent since the test started. Without users it
// returns the requests of the test's own user. The result is exact: it has every request that was answered before this
// call once, and no request of other users.
func (e *Env) Calls(t testing.TB, users ...*User) Calls {
	t.Helper()
	return e.CallsSince(t, Mark{at: e.since}, users...)
}

// CallsSince is like [Env.Calls], for requests that were answered since the mark. A watch counts when it begins.
func (e *Env) CallsSince(t testing.TB, mark Mark, users ...*User) Calls {
	t.Helper()
	if len(users) == 0 {
		users = []*User{e.Self}
	}
	var want audit.Match
	for _, user := range users {
		want.Users = append(want.Users, user.Name)
	}
	return e.calls(t, mark, want)
}

// NamespaceCalls returns the requests for objects of the test's namespace since the mark, of all users, controllers and
// administrator included.
func (e *Env) NamespaceCalls(t testing.TB, mark Mark) Calls {
	t.Helper()
	return e.calls(t, mark, audit.Match{Namespace: e.Namespace}).Filter(func(call audit.Call) bool {
		return !isMarker(call.Name)
	})
}

func (e *Env) calls(t testing.TB, mark Mark, want audit.Match) Calls {
	t.Helper()
	calls, err := e.plane.log.Calls(mark.at, e.flush(t), want)
	if err != nil {
		t.Fatalf("envtest: %v", err)
	}
	return calls
}

// flush waits until the log has all requests that were answered until now, and returns the log's end. To do so, it
// sends a request and waits until the log has that request.
func (e *Env) flush(t testing.TB) audit.Position {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), stepTimeout)
	defer cancel()
	at, err := e.plane.flush(ctx, e.Namespace)
	if err != nil {
		t.Fatalf("envtest: %v", err)
	}
	return at
}

const markerPrefix = "envtest-mark-"

func isMarker(name string) bool {
	return len(name) == len(markerPrefix)+suffix && name[:len(markerPrefix)] == markerPrefix
}

func (p *plane) flush(ctx context.Context, namespace string) (audit.Position, error) {
	if p.log.Path == "" {
		return audit.Position{}, fmt.Errorf("cluster %s keeps no audit log, so calls can't be counted: start the cluster with --audit", p.cluster.Dir())
	}
	from, err := p.log.End()
	if err != nil {
		return audit.Position{}, err
	}
	name := markerPrefix + random()
	_, err = p.client.Resource(configMaps).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return audit.Position{}, fmt.Errorf("marker %s/%s in the audit log: %w", namespace, name, err)
	}
	return p.log.Await(ctx, from, name)
}
